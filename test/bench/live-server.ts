import assert from 'node:assert/strict'
import { SCENARIOS, type ScenarioName } from './contenders/live-apps.js'
import type { LiveLimiterName } from './contenders/live-limiters.js'
import { startChild } from './harness/child.js'
import { sendPipelined } from './harness/pipelined-load.js'
import type { CpuUsage } from './harness/server-child.js'

const WARM_UP = 20_000
const CONNECTIONS = 8
const HEAP_MB = 500

/** What some requests took of a server's process, and how long each of them waited. */
export interface Served {
  readonly userCpuNs: number
  readonly cpuNs: number
  readonly wallNs: number
  readonly latenciesMs: Float64Array
}

/** A contender's Express server, in a process of its own. */
export interface LiveServer {
  readonly name: LiveLimiterName
  serve(count: number): Promise<Served>
  end(): Promise<void>
}

/** Starts a contender's server, and warms it up. `atATime` requests are on their way together. */
export async function startLiveServer(
  name: LiveLimiterName,
  scenario: ScenarioName,
  { atATime, redisUrl }: { readonly atATime: number; readonly redisUrl?: string },
): Promise<LiveServer> {
  const { requests, status } = SCENARIOS[scenario]
  const args = redisUrl === undefined ? [name, scenario] : [name, scenario, redisUrl]
  const child = startChild(new URL('./live-child.ts', import.meta.url), args, HEAP_MB)
  const load = {
    requests,
    connections: CONNECTIONS,
    depth: atATime / CONNECTIONS,
    port: await child.ask<number>('port'),
  }
  await sendPipelined({ ...load, count: WARM_UP })
  const expected = name === 'nothing' ? 200 : status
  return {
    name,
    async serve(count) {
      const before = await child.ask<CpuUsage>('cpu')
      const start = process.hrtime.bigint()
      const { statuses, latenciesMs } = await sendPipelined({ ...load, count })
      const wallNs = Number(process.hrtime.bigint() - start)
      const after = await child.ask<CpuUsage>('cpu')
      assert.deepEqual(statuses, { [expected]: count }, `${name}: not every request was answered ${expected}`)
      const userCpuNs = after.userNs - before.userNs
      return { userCpuNs, cpuNs: userCpuNs + after.systemNs - before.systemNs, wallNs, latenciesMs }
    },
    end: () => child.end(),
  }
}

/** Lets the servers serve in turns. Calls `use` with what each turn of a server took. */
export async function serveInTurns(
  servers: readonly LiveServer[],
  { turns, count }: { readonly turns: number; readonly count: number },
  use: (name: LiveLimiterName, served: Served) => void | Promise<void>,
  before: () => void | Promise<void> = () => {},
): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    const first = turn % servers.length // nobody always goes first
    for (const server of [...servers.slice(first), ...servers.slice(0, first)]) {
      await before()
      await use(server.name, await server.serve(count))
    }
  }
}
