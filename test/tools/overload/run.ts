import type { Child } from '../../bench/harness/child.js'
import { startChild } from '../../bench/harness/child.js'
import type { LoadQuestion } from './load-child.js'
import type { LoadOutcome } from './outcome.js'
import { type LiveScenario, SERVER_KINDS } from './scenario.js'
import { warmUp } from './scenarios.js'
import type { ServerFigures } from './server-child.js'

const HEAP_MB = 1000
const WARM_UP_SECONDS = 2

/** Where the modules of the children are, and the packages of other guards. */
export interface Programs {
  readonly server: URL
  readonly load: URL
  readonly packages: string
}

/** What a server with a guard did in a scenario. */
export interface LiveRun extends LoadOutcome {
  /** The share of a core that the server's process used. */
  readonly cpuShare: number
  readonly limit?: number
  /** Full seconds after the trouble until requests were answered as usual; `undefined` if they never were. */
  readonly recoveredAfter?: number | undefined
}

/** Plays a scenario against a fresh server, from a generator in a process of its own. */
export async function play(
  scenario: LiveScenario,
  contender: string,
  { server, load, packages }: Programs,
  seconds: number,
  seed: number,
): Promise<LiveRun> {
  const timeoutMs = (seconds + WARM_UP_SECONDS + 60) * 1000
  const serving = startChild(server, [scenario.work, contender, packages], HEAP_MB, timeoutMs)
  const sending = startChild(load, [], HEAP_MB, timeoutMs)
  try {
    const port = await serving.ask<number>('port')
    const send = (name: string, forSeconds: number) =>
      sending.ask<LoadOutcome>({ port, scenario: name, seconds: forSeconds, seed } satisfies LoadQuestion)
    await send(warmUp(scenario.work).name, WARM_UP_SECONDS)
    return await measure(scenario, seconds, serving, () => send(scenario.name, seconds))
  } finally {
    await Promise.all([serving.end(), sending.end()])
  }
}

async function measure(
  scenario: LiveScenario,
  seconds: number,
  serving: Child,
  send: () => Promise<LoadOutcome>,
): Promise<LiveRun> {
  await serving.ask({ begin: scenario.name, seconds })
  const before = await serving.ask<ServerFigures>('figures')
  const beganAtMs = performance.now()
  const outcome = await send()
  const wallMs = performance.now() - beganAtMs
  const { cpuMs, limit } = await serving.ask<ServerFigures>('figures')
  return {
    ...outcome,
    cpuShare: (cpuMs - before.cpuMs) / wallMs,
    ...(limit !== undefined && limit !== null && { limit }), // NaN becomes null on its way
    ...(scenario.calmFrom !== undefined && { recoveredAfter: recoveredAfter(scenario, outcome, seconds) }),
  }
}

/** In a second that is well, so much of what was sent was answered in time, or of what the server can do. */
const USUAL_SHARE = 0.9

/** Returns how many full seconds after the trouble all seconds are well again. */
export function recoveredAfter(
  { calmFrom = 0, work }: LiveScenario,
  { sentBySecond, goodBySecond }: Pick<LoadOutcome, 'sentBySecond' | 'goodBySecond'>,
  seconds: number,
): number | undefined {
  const first = Math.ceil(calmFrom * seconds)
  const perSecond = SERVER_KINDS[work].capacity * 1000
  const isWell = (second: number) =>
    (goodBySecond[second] ?? 0) >= USUAL_SHARE * Math.min(sentBySecond[second] ?? 0, perSecond)
  const last = goodBySecond.findLastIndex((_, second) => second >= first && !isWell(second))
  if (last < 0) return 0
  return last === goodBySecond.length - 1 ? undefined : last + 1 - first
}
