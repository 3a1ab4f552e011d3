import assert from 'node:assert/strict'
import { GUARDED, type GuardedName } from './contenders/guarded-servers.js'
import { LIVE_GUARDS, type LiveGuardName } from './contenders/live-guards.js'
import { BURST, type BurstClient, connectForBursts } from './harness/burst-load.js'
import { type Child, startChild } from './harness/child.js'
import { medianOf } from './harness/intervals.js'
import { median, rotated } from './harness/rounds.js'
import type { CpuUsage } from './harness/server-child.js'
import { printTable } from './harness/table.js'
import type { OverloadQuestion } from './overload-child.js'
import { isShort } from './workloads.js'

const PROCESSES = isShort ? 2 : 7
/** So that V8 has compiled what is measured. */
const WARM_UP_BURSTS = 150
const TURNS = isShort ? 20 : 60
const IN_A_ROW = 10
const HEAP_MB = 500
const HELLO = 'GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n'
const NAMES = Object.keys(LIVE_GUARDS) as LiveGuardName[]

/**
 * What a guard of overload costs a live server: CPU of a request above that of a server without a guard. One
 * process differs from the next by more than a guard takes, so each has both servers, which serve by turns. There
 * are ten guards in a row, since the difference grows with them, and the error does not. "nothing" shows the error.
 */
export async function benchOverload(): Promise<void> {
  for (const server of Object.keys(GUARDED) as GuardedName[]) await compare(server)
}

async function compare(server: GuardedName): Promise<void> {
  const above = NAMES.map((): number[] => [])
  for (let i = 0; i < PROCESSES; i++)
    for (const [k, name] of rotated([...NAMES.entries()], i))
      above[k]?.push((await differenceOf(server, name)) / IN_A_ROW)
  const rows = above.map((us, i) => {
    const { median, low, high } = medianOf(us)
    return [NAMES[i] as string, median.toFixed(2), `${low.toFixed(2)} to ${high.toFixed(2)}`]
  })
  const title = `${server}, ${IN_A_ROW} guards in a row: CPU of each, ${PROCESSES} processes, medians`
  printTable(title, ['contender', 'µs a request', '95 %'], rows)
}

/** Returns by how many microseconds a request to a guarded server takes more CPU than one to another. */
async function differenceOf(server: GuardedName, name: LiveGuardName): Promise<number> {
  const module = new URL('./overload-child.ts', import.meta.url)
  const child = startChild(module, [server, `${IN_A_ROW}`, 'nothing', name], HEAP_MB)
  const ports = await child.ask<number[]>('ports' satisfies OverloadQuestion)
  const clients = await Promise.all(ports.map((port) => connectForBursts(port, HELLO)))
  for (const client of clients) await client.send(WARM_UP_BURSTS)
  const [bare, guarded] = clients
  const differences: number[] = []
  for (let i = 0; i < TURNS; i++) {
    const us = new Map<unknown, number>()
    for (const client of rotated(clients, i)) us.set(client, await serve(child, client))
    differences.push((us.get(guarded) as number) - (us.get(bare) as number))
  }
  for (const client of clients) client.end()
  await child.end()
  return median(differences)
}

/** Returns how many microseconds of CPU a request takes. */
async function serve(child: Child, client: BurstClient, tries = 5): Promise<number> {
  const before = await child.ask<CpuUsage>('cpu')
  const statuses = await client.send(1)
  const after = await child.ask<CpuUsage>('cpu')
  // A machine that has other work may hold the server up for so long that the guard denies.
  if (statuses[503] !== undefined && tries > 1) return serve(child, client, tries - 1)
  assert.deepEqual(statuses, { 200: BURST }, 'not every request was answered 200')
  return (after.userNs + after.systemNs - before.userNs - before.systemNs) / BURST / 1000
}
