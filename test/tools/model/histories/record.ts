import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startChild } from '../../../bench/harness/child.js'
import type { Order, Recorded } from './caller-process.js'
import { LIMIT_NAMES } from './limits.js'
import { serveChild } from './owner.js'
import type { Entry } from './sequential.js'
import type { StartedTarget } from './targets.js'

/** Tests and tools run in the root of the repository. */
export const PROGRAM = 'test/tools/model/histories/caller-process.ts'
const HEAP_MB = 512

/** How many processes and calls a key has in a round. */
export interface Load {
  readonly processes: number
  readonly callersPerKey: number
  readonly callsPerCaller: number
  readonly keysPerRound: number
  readonly rounds: number
  readonly roundMs: number
  readonly timeoutMs: number
}

export const LOAD: Load = {
  processes: 3,
  callersPerKey: 2,
  callsPerCaller: 4,
  keysPerRound: 14,
  rounds: 60,
  roundMs: 6,
  timeoutMs: 5000,
}

/** Many calls of few keys, which are then leased and used up. */
export const LEASED_LOAD: Load = {
  ...LOAD,
  callersPerKey: 8,
  callsPerCaller: 20,
  keysPerRound: 3,
  rounds: 10,
  roundMs: 50,
}

/** What was recorded of one key. */
export interface History {
  readonly limit: string
  readonly identity: string
  readonly entries: readonly Entry[]
}

/** Processes of callers. */
export interface Callers {
  ask(order: Order): Promise<Recorded[]>
  end(): Promise<void>
}

/** Starts processes that each have a limiter over the same store. */
export function startCallers(
  { target, execPath, owned }: Pick<StartedTarget, 'target' | 'execPath' | 'owned'>,
  { processes, timeoutMs }: Load,
  program = resolve(PROGRAM),
): Callers {
  const children = Array.from({ length: processes }, (_, i) => {
    const args = [JSON.stringify(target), String(i), String(timeoutMs), String(processes)]
    const child = startChild(pathToFileURL(program), args, HEAP_MB, 0, execPath)
    if (owned !== undefined) serveChild(child.process, owned)
    return child
  })
  return {
    ask: (order) => Promise.all(children.map((child) => child.ask<Recorded>(order))),
    end: async () => void (await Promise.all(children.map((child) => child.end()))),
  }
}

/** Has all processes play rounds on the same keys at the same time, and returns the history of each key. */
export async function record(
  callers: Callers,
  seed: number,
  load: Load,
  limits: readonly string[] = LIMIT_NAMES,
): Promise<History[]> {
  const run = `${process.pid.toString(36)}-${Date.now().toString(36)}`
  const rounds = Array.from({ length: load.rounds }, (_, round) =>
    Array.from({ length: load.keysPerRound }, (_, i) => {
      const limit = limits[(round + i) % limits.length] as string
      return [limit, `${run}-${seed}-${round}-${i}`] as const
    }),
  )
  const { callersPerKey, callsPerCaller, roundMs } = load
  const order: Order = { seed, rounds, callersPerKey, callsPerCaller, roundMs, startMs: Date.now() + 50 }
  const recorded = await callers.ask(order)
  return rounds.flat().map(([limit, identity]) => ({
    limit,
    identity,
    entries: recorded.flatMap((each) => each[identity] ?? []),
  }))
}
