import assert from 'node:assert/strict'
import type { BenchServer } from './harness/bench-servers.js'
import { startChild } from './harness/child.js'
import { sendPipelined } from './harness/pipelined-load.js'
import type { Self } from './harness/profile.js'
import { rotated } from './harness/rounds.js'
import type { CpuUsage } from './harness/server-child.js'
import { measureServer, type ServerUsage } from './harness/server-usage.js'

/** For the compiler. Each of the requests is sent twice at least, so that limits of 1 are used up. */
const WARM_UP = 40_000
const CONNECTIONS = 8
const HEAP_MB = 500
const LIVE_CHILD = new URL('./live-child.ts', import.meta.url)

/** A contender's server, and what it is sent. */
export interface LiveSetup {
  readonly name: string
  /** The module that serves in a process of its own. Default: `live-child.ts`, with Express. */
  readonly module?: URL
  /** What the module is started with. */
  readonly args: readonly string[]
  /** Returns the requests, which are sent in turn. */
  readonly requests: (port: number) => readonly string[] | Promise<readonly string[]>
  /** The status of all responses after the warm-up. */
  readonly status: number
  /** How many requests are on their way together. */
  readonly atATime: number
}

/** What some requests took of a server's process, and how long each of them waited. */
export interface Served {
  readonly userCpuNs: number
  readonly cpuNs: number
  readonly wallNs: number
  readonly latenciesMs: Float64Array
}

/** What a limiter's own functions took, and what they called. */
export interface Profiled {
  readonly cpuUs: Self
  readonly bytes: Self
}

/** A server in a process of its own. */
export interface LiveServer {
  readonly name: string
  serve(count: number): Promise<Served>
  /** Serves twice, and samples the functions of some files: first their CPU, then their bytes. */
  profile(count: number, files: string): Promise<Profiled>
  end(): Promise<void>
}

/** Starts a server, and warms it up. */
export async function startLiveServer(setup: LiveSetup): Promise<LiveServer> {
  const { name, module = LIVE_CHILD, args, status, atATime } = setup
  const child = startChild(module, args, HEAP_MB)
  const port = await child.ask<number>('port')
  const load = {
    port,
    connections: CONNECTIONS,
    depth: atATime / CONNECTIONS,
    requests: await setup.requests(port),
  }
  await sendPipelined({ ...load, count: Math.max(WARM_UP, 2 * load.requests.length) })
  return {
    name,
    async serve(count) {
      const before = await child.ask<CpuUsage>('cpu')
      const start = process.hrtime.bigint()
      const { statuses, latenciesMs } = await sendPipelined({ ...load, count })
      const wallNs = Number(process.hrtime.bigint() - start)
      const after = await child.ask<CpuUsage>('cpu')
      assert.deepEqual(statuses, { [status]: count }, `${name}: not every request was answered ${status}`)
      const userCpuNs = after.userNs - before.userNs
      return { userCpuNs, cpuNs: userCpuNs + after.systemNs - before.systemNs, wallNs, latenciesMs }
    },
    async profile(count, files) {
      const sample = async (what: 'cpu' | 'bytes'): Promise<Self> => {
        await child.ask({ start: what })
        await sendPipelined({ ...load, count })
        return child.ask({ stop: what, files })
      }
      return { cpuUs: await sample('cpu'), bytes: await sample('bytes') }
    },
    end: () => child.end(),
  }
}

/** Serves in turn so many times, in fresh processes. Returns what each took, by its name. */
export async function serveInRounds(
  setups: readonly LiveSetup[],
  processes: number,
  count: number,
): Promise<ReadonlyMap<string, readonly Served[]>> {
  const served = new Map<string, Served[]>(setups.map(({ name }) => [name, []]))
  for (let i = 0; i < processes; i++) {
    await serveInTurn(rotated(setups, i), count, (name, took) => void served.get(name)?.push(took))
  }
  return served
}

/** What some requests took, of the store's server too. */
export type ServedOn = Served & ServerUsage

/** Does the same with a store on a server, which is emptied before each round. */
export async function serveOn(
  { empty, usage }: BenchServer,
  setups: readonly LiveSetup[],
  processes: number,
  count: number,
): Promise<ReadonlyMap<string, readonly ServedOn[]>> {
  const served = new Map<string, ServedOn[]>(setups.map(({ name }) => [name, []]))
  let used: () => Promise<ServerUsage>
  for (let i = 0; i < processes; i++) {
    await empty()
    await serveInTurn(
      rotated(setups, i),
      count,
      async (name, took) => void served.get(name)?.push({ ...took, ...(await used()) }),
      async () => {
        used = await measureServer(usage)
      },
    )
  }
  return served
}

/**
 * Starts one server after the other, lets each serve `count` requests, and ends it. Calls `use` with what
 * they took. One at a time: V8 shrinks the heap of a process that waits, and its next requests cost more.
 */
export async function serveInTurn(
  setups: readonly LiveSetup[],
  count: number,
  use: (name: string, served: Served) => void | Promise<void>,
  before: () => void | Promise<void> = () => {},
): Promise<void> {
  for (const setup of setups) {
    const server = await startLiveServer(setup)
    try {
      await before()
      await use(server.name, await server.serve(count))
    } finally {
      await server.end()
    }
  }
}
