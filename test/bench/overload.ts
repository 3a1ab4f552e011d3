import assert from 'node:assert/strict'
import { GUARDED, type GuardedName, LIVE_GUARDS, type LiveGuardName } from './contenders/live-guards.js'
import { BURST, type BurstClient, connectForBursts } from './harness/burst-load.js'
import { type Child, startChild } from './harness/child.js'
import { medianOf } from './harness/intervals.js'
import { median, rotated } from './harness/rounds.js'
import type { CpuUsage } from './harness/server-child.js'
import { printTable } from './harness/table.js'
import { isShort } from './workloads.js'

const PROCESSES = isShort ? 3 : 7
const ROUNDS = isShort ? 7 : 15
const BURSTS = 8
const WARM_UP_BURSTS = 25
const HEAP_MB = 500
const HELLO = 'GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n'
const IN_A_ROW = isShort ? [1] : [1, 5]

/**
 * What a guard of overload costs a live server: user CPU of a request above that of a server in the same
 * process, whose middleware only calls `next()`. The two serve by turns, since one process differs from the
 * next by more than what is measured.
 */
export async function benchOverload(): Promise<void> {
  for (const server of Object.keys(GUARDED) as GuardedName[])
    for (const count of IN_A_ROW) await compare(server, count)
}

async function compare(server: GuardedName, count: number): Promise<void> {
  const names = Object.keys(LIVE_GUARDS) as LiveGuardName[]
  const above = new Map<string, number[]>(names.map((name) => [name, []]))
  for (let i = 0; i < PROCESSES; i++) {
    for (const name of rotated(names, i)) {
      const child = startChild(
        new URL('./overload-child.ts', import.meta.url),
        [server, name, `${count}`],
        HEAP_MB,
      )
      above.get(name)?.push((await measure(child)) / count)
      await child.end()
    }
  }
  const rows = Array.from(above, ([name, us]) => {
    const { median, low, high } = medianOf(us)
    return [name, median.toFixed(2), `${low.toFixed(2)} to ${high.toFixed(2)}`]
  })
  const title = `${server}, ${count} in a row: user CPU of each, ${PROCESSES} processes, medians`
  printTable(title, ['contender', 'µs above nothing', '95 %'], rows)
}

/** Returns by how many microseconds a request to the guarded server takes more CPU than one to the other. */
async function measure(child: Child): Promise<number> {
  const ports = await child.ask<number[]>('ports')
  const clients = await Promise.all(ports.map((port) => connectForBursts(port, HELLO)))
  for (const client of [...clients, ...clients]) await client.send(WARM_UP_BURSTS)
  const [bare, guarded] = clients
  const differences: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const us = new Map<unknown, number>()
    for (const client of rotated(clients, i)) us.set(client, await serve(child, client))
    differences.push((us.get(guarded) as number) - (us.get(bare) as number))
  }
  for (const client of clients) client.end()
  return median(differences)
}

async function serve(child: Child, client: BurstClient, tries = 5): Promise<number> {
  const before = await child.ask<CpuUsage>('cpu')
  const statuses = await client.send(BURSTS)
  const after = await child.ask<CpuUsage>('cpu')
  // A machine that has other work may hold the server up for so long that the guard denies.
  if (statuses[503] !== undefined && tries > 1) return serve(child, client, tries - 1)
  assert.deepEqual(statuses, { 200: BURSTS * BURST }, 'not every request was answered 200')
  return (after.userNs - before.userNs) / (BURSTS * BURST) / 1000
}
