import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { startChild } from '../../bench/harness/child.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { repeat } from './common-faults.js'
import type { Order } from './in-flight-child.js'
import { LIMIT } from './in-flight-limits.js'

const PROCESSES = 3
const HEAP_MB = 256

/** What happens to Redis while processes share a limit on requests in flight. */
export interface InFlightFault {
  readonly name: string
  inflict(server: RedisServer): Promise<void>
}

export interface InFlightRun {
  readonly fault: InFlightFault
  readonly ttlMs: number
  /** How long the processes go on before and after the fault. */
  readonly calmMs: number
  /** The program in one file; it is started from its sources otherwise. */
  readonly program?: string
}

/** What came of it, by one clock. */
export interface InFlightOutcome {
  readonly requests: number
  /** The most requests that ran at once. */
  readonly most: number
  /** From the end of the fault until a request began, and until as many ran as the limit allows. */
  readonly firstMs: number | undefined
  readonly usableMs: number | undefined
  /** How many units are free once all requests have ended. */
  readonly freeAtRest: number
}

const freeze = (forMs: number): InFlightFault => ({
  name: `SIGSTOP for ${forMs} ms`,
  async inflict(server) {
    await server.kill('SIGSTOP')
    await pause(forMs)
    await server.kill('SIGCONT')
  },
})

export const SHORT_FREEZE = freeze(300)
export const CLIENT_KILL: InFlightFault = {
  name: 'CLIENT KILL, 10 times',
  inflict: (server) => repeat(2000, 200, () => server.cli('CLIENT', 'KILL', 'TYPE', 'normal')),
}
export const IN_FLIGHT_FAULTS: readonly InFlightFault[] = [
  SHORT_FREEZE,
  freeze(3000),
  {
    name: 'SIGKILL, with AOF',
    async inflict(server) {
      await server.kill('SIGKILL')
      await pause(1000)
      await server.restart()
    },
  },
  CLIENT_KILL,
]

/** The program of a process. */
export const IN_FLIGHT = 'test/tools/faults/in-flight-child.ts'

/** Has processes share a limit on a Redis that keeps its data, and inflicts a fault on it. */
export async function runInFlight({
  fault,
  ttlMs,
  calmMs,
  program = resolve(IN_FLIGHT),
}: InFlightRun): Promise<InFlightOutcome> {
  const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
  const folder = await mkdtemp(join(tmpdir(), 'headgate-in-flight-'))
  const logs = Array.from({ length: PROCESSES }, (_, i) => join(folder, `${i}.log`))
  const children = logs.map((log) =>
    startChild(pathToFileURL(program), [server.url, log, String(ttlMs)], HEAP_MB),
  )
  const ask = (order: Order) => Promise.all(children.map((child) => child.ask<number>(order)))
  try {
    await ask('begin')
    await pause(calmMs)
    await fault.inflict(server)
    const overAtMs = Number(process.hrtime.bigint()) / 1e6
    await pause(calmMs)
    await ask('end')
    const [freeAtRest = 0] = await ask('end')
    const files = await Promise.all(logs.map((log) => readFile(log, 'utf8')))
    return { ...figuresOf(files.join(''), overAtMs), freeAtRest }
  } finally {
    await Promise.all(children.map((child) => child.end()))
    await server.stop()
    await rm(folder, { recursive: true })
  }
}

function figuresOf(log: string, overAtMs: number): Omit<InFlightOutcome, 'freeAtRest'> {
  const changes = log
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number) as [atMs: number, units: number])
    .sort((a, b) => a[0] - b[0])
  let [running, most, requests] = [0, 0, 0]
  let firstAtMs: number | undefined
  let usableAtMs: number | undefined
  for (const [atMs, units] of changes) {
    running += units
    if (units < 0) continue
    requests += 1
    most = Math.max(most, running)
    if (atMs < overAtMs) continue
    firstAtMs ??= atMs
    if (running >= LIMIT) usableAtMs ??= atMs
  }
  const since = (atMs: number | undefined) => (atMs === undefined ? undefined : Math.round(atMs - overAtMs))
  return { requests, most, firstMs: since(firstAtMs), usableMs: since(usableAtMs) }
}
