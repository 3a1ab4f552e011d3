import assert from 'node:assert/strict'
import { GUARDED, type GuardedName } from './contenders/guarded-servers.js'
import { LIVE_GUARDS, type LiveGuardName } from './contenders/live-guards.js'
import { BURST, type BurstClient, connectForBursts } from './harness/burst-load.js'
import { type Child, startChild } from './harness/child.js'
import { medianOf } from './harness/intervals.js'
import { median, rotated } from './harness/rounds.js'
import type { CpuUsage } from './harness/server-child.js'
import { printTable } from './harness/table.js'
import type { OverloadQuestion, Sampled } from './overload-child.js'
import { isShort } from './workloads.js'

const PROCESSES = isShort ? 2 : 7
const BURSTS = isShort ? 20 : 60
const WARM_UP_BURSTS = 250
const TURNS = isShort ? 20 : 60
const IN_A_ROW = 10
const HEAP_MB = 500
const HELLO = 'GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n'
const NAMES = Object.keys(LIVE_GUARDS) as LiveGuardName[]

/**
 * What a guard of overload costs a live server, in two ways, since one process differs from the next by more
 * CPU than a guard takes.
 *
 * - Sampled in the server: the share of its CPU that is spent in the guard. It lacks what a guard leaves behind,
 *   such as garbage, and has some of a handler that V8 compiles into it: as much as for "nothing".
 * - By turns: servers with different guards in one process, and what their requests take above those of the
 *   first one, which has none. The second has none either, and shows the error. There are ten guards in a
 *   row, since the difference grows with them, and the error does not.
 */
export async function benchOverload(): Promise<void> {
  for (const server of Object.keys(GUARDED) as GuardedName[]) {
    await sampleGuards(server)
    await takeTurns(server)
  }
}

/** What a request takes. */
interface Cost {
  readonly us: number
  /** Of all CPU, from 0 to 1. */
  readonly share: number
}

async function sampleGuards(server: GuardedName): Promise<void> {
  const costs = NAMES.map((): Cost[] => [])
  for (let i = 0; i < PROCESSES; i++)
    await withServers(server, 1, NAMES, async (clients, child) => {
      for (const [k, client] of rotated([...clients.entries()], i))
        costs[k]?.push(await sample(client, child))
    })
  const rows = costs.map((all, i) => [
    NAMES[i] as string,
    ...withInterval(all.map(({ us }) => us)),
    `${(100 * median(all.map(({ share }) => share))).toFixed(1)} %`,
  ])
  const title = `${server}, one guard: sampled in the guard, ${PROCESSES} processes each, medians`
  printTable(title, ['contender', 'µs a request', '95 %', 'of all CPU'], rows)
}

/** Of the time of a sample, the process may have waited for a CPU. So it is scaled to what was used. */
async function sample(client: BurstClient, child: Child): Promise<Cost> {
  const ask = <Answer>(question: OverloadQuestion) => child.ask<Answer>(question)
  await ask('startSample')
  const usedUs = await serve(child, client, BURSTS)
  const { own, all } = await ask<Sampled>('stopSample')
  const share = own / all
  return { us: share * usedUs, share }
}

async function takeTurns(server: GuardedName): Promise<void> {
  const names: LiveGuardName[] = ['nothing', ...NAMES]
  const above = names.slice(1).map((): number[] => [])
  for (let i = 0; i < PROCESSES; i++) {
    const differences = await withServers(server, IN_A_ROW, names, compareByTurns)
    for (const [k, all] of above.entries()) all.push((differences[k] as number) / IN_A_ROW)
  }
  const rows = above.map((us, i) => [names[i + 1] as string, ...withInterval(us)])
  const title = `${server}, ${IN_A_ROW} guards in a row: CPU of each above none, ${PROCESSES} processes, medians`
  printTable(title, ['contender', 'µs a request', '95 %'], rows)
}

/** Returns by how many microseconds a request to each other server takes more CPU than one to the first. */
async function compareByTurns(clients: readonly BurstClient[], child: Child): Promise<number[]> {
  const differences = clients.slice(1).map((): number[] => [])
  for (let i = 0; i < TURNS; i++) {
    const us = new Map<BurstClient, number>()
    for (const client of rotated(clients, i)) us.set(client, await serve(child, client, 1))
    const [none, ...others] = clients.map((client) => us.get(client) as number)
    for (const [k, all] of differences.entries()) all.push((others[k] as number) - (none as number))
  }
  return differences.map(median)
}

/** Calls `use` with clients of warm servers in a fresh process. */
async function withServers<T>(
  server: GuardedName,
  inARow: number,
  names: readonly LiveGuardName[],
  use: (clients: readonly BurstClient[], child: Child) => Promise<T>,
): Promise<T> {
  const module = new URL('./overload-child.ts', import.meta.url)
  const child = startChild(module, [server, `${inARow}`, ...names], HEAP_MB)
  const ports = await child.ask<number[]>('ports' satisfies OverloadQuestion)
  const clients = await Promise.all(ports.map((port) => connectForBursts(port, HELLO)))
  for (const client of clients) await client.send(WARM_UP_BURSTS)
  const used = await use(clients, child)
  for (const client of clients) client.end()
  await child.end()
  return used
}

/** Returns how many microseconds of CPU a request takes. */
async function serve(child: Child, client: BurstClient, bursts: number, tries = 5): Promise<number> {
  const before = await child.ask<CpuUsage>('cpu')
  const statuses = await client.send(bursts)
  const after = await child.ask<CpuUsage>('cpu')
  // A machine that has other work may hold the server up for so long that the guard denies.
  if (statuses[503] !== undefined && tries > 1) return serve(child, client, bursts, tries - 1)
  assert.deepEqual(statuses, { 200: bursts * BURST }, 'not every request was answered 200')
  const ns = after.userNs + after.systemNs - before.userNs - before.systemNs
  return ns / (bursts * BURST) / 1000
}

function withInterval(values: readonly number[]): [string, string] {
  const { median, low, high } = medianOf(values)
  return [median.toFixed(2), `${low.toFixed(2)} to ${high.toFixed(2)}`]
}
