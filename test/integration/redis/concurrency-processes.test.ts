import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type Child, startChild } from '../../bench/harness/child.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { LIMIT, type Order, TTL_MS } from './concurrency-child.js'

const PROCESSES = 4
/** Of the process that is killed: they last for longer than a ttl before, and are never released. */
const HELD = 20
const CALLERS = 20
const HELD_MS = TTL_MS * 1.25
const AFTER_MS = TTL_MS * 1.5

let server: RedisServer
let program: Bundle
let folder: string
let children: Child[]

const logOf = (i: number) => join(folder, `${i}.log`)

beforeAll(async () => {
  server = await startRedis()
  folder = await mkdtemp(join(tmpdir(), 'headgate-concurrency-'))
  program = await bundle(join(__dirname, 'concurrency-child.ts'))
  const url = pathToFileURL(program.path)
  children = Array.from({ length: PROCESSES }, (_, i) => startChild(url, [server.url, logOf(i)], 256))
  await Promise.all(children.map((child) => child.ask({} satisfies Order))) // until all are connected
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await Promise.all((children ?? []).map((child) => child.end()))
  await program?.remove()
  if (folder !== undefined) await rm(folder, { recursive: true })
  await server?.stop()
})

/** A change of how many requests are in flight. */
interface Change {
  readonly atMs: number
  readonly by: number
}

/** Returns what a process logged. What was in flight when it was killed ended then. */
async function changesOf(i: number): Promise<{ changes: Change[]; killedAtMs: number }> {
  const lines = (await readFile(logOf(i), 'utf8')).trim().split('\n')
  const entries = lines.map((line) => line.split(' ') as [string, string])
  const changes = entries
    .filter(([, by]) => by !== 'killed')
    .map(([atMs, by]) => ({ atMs: Number(atMs), by: Number(by) }))
  const killedAtMs = Number(entries.find(([, by]) => by === 'killed')?.[0] ?? Number.POSITIVE_INFINITY)
  const left = changes.reduce((sum, { by }) => sum + by, 0)
  return { changes: left > 0 ? [...changes, { atMs: killedAtMs, by: -left }] : changes, killedAtMs }
}

/** Returns how many requests are in flight after each change. */
function inFlight(changes: readonly Change[]): { atMs: number; count: number }[] {
  let count = 0
  return changes
    .toSorted((a, b) => a.atMs - b.atMs || a.by - b.by)
    .map(({ atMs, by }) => {
      count += by
      return { atMs, count }
    })
}

test('four processes never exceed the limit, and one that is killed frees what it held after the ttl', async () => {
  const [victim, ...survivors] = children as [Child, ...Child[]]
  await victim.ask({ held: HELD } satisfies Order)
  const order: Order = { callers: CALLERS, forMs: HELD_MS + AFTER_MS }
  const denials = Promise.all(survivors.map((child) => child.ask<number>(order)))
  await pause(HELD_MS)
  await expect(victim.ask({ dies: true } satisfies Order)).rejects.toThrow('A child ended early')
  expect(Math.min(...(await denials))).toBeGreaterThan(0)

  const logs = await Promise.all(children.map((_, i) => changesOf(i)))
  const { killedAtMs } = logs[0] as (typeof logs)[0]
  const all = inFlight(logs.flatMap(({ changes }) => changes))
  const ofSurvivors = inFlight(logs.slice(1).flatMap(({ changes }) => changes))
  expect(all.length).toBeGreaterThan(1000)
  const most = Math.max(...all.map(({ count }) => count))
  expect(most).toBeLessThanOrEqual(LIMIT)
  expect(most).toBeGreaterThan(0.9 * LIMIT) // a log begins later than its request is allowed

  const room = LIMIT - HELD
  const freedAtMs = ofSurvivors.find(({ count }) => count > room)?.atMs ?? Number.POSITIVE_INFINITY
  const freedAfterMs = freedAtMs - killedAtMs
  expect(freedAfterMs).toBeGreaterThan(TTL_MS / 2) // the last renewal is half a ttl ago at most
  expect(freedAfterMs).toBeLessThan(AFTER_MS)
  expect(Math.max(...ofSurvivors.map(({ count }) => count))).toBeGreaterThan(room + HELD / 2)
})
