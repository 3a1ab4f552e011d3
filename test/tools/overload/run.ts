import type { Child } from '../../bench/harness/child.js'
import { withChildren } from './children.js'
import type { LoadQuestion } from './load-child.js'
import type { LoadOutcome } from './outcome.js'
import { type LiveScenario, type Phase, SERVER_KINDS, secondsOf } from './scenario.js'
import type { ServerFigures } from './server-child.js'

/** For processes to start and to be asked, beside the scenario. A server under load answers late. */
const SPARE_SECONDS = 20

/** Where the modules of the children are, and the packages of other guards. */
export interface Programs {
  readonly server: URL
  readonly load: URL
  readonly packages: string
}

/** What a server with a guard did in a scenario. */
export interface LiveRun extends LoadOutcome {
  readonly cpuMs: number
  readonly limit?: number
  /** Full seconds after the trouble until requests were answered as usual; `undefined` if they never were. */
  readonly recoveredAfter?: number | undefined
  /** What critical requests took before, when the server was idle. */
  readonly idleP99Ms?: number | undefined
}

/** Plays a scenario against a fresh server, from a generator in a process of its own. */
export function play(
  scenario: LiveScenario,
  contender: string,
  { server, load, packages }: Programs,
  seconds: number,
  seed: number,
): Promise<LiveRun> {
  const lasts = secondsOf(scenario, seconds)
  const { name, work } = scenario
  const timeoutMs = (lasts['warm-up'] + lasts.idle + lasts.main + SPARE_SECONDS) * 1000
  const modules = [[server, [work, contender, packages]] as const, [load, []] as const]
  return withChildren(modules, timeoutMs, async (...[serving, sending]) => {
    const port = await (serving as Child).ask<number>('port')
    const send = (phase: Phase) => {
      const question: LoadQuestion = { port, scenario: name, phase, seconds: lasts[phase], seed }
      return (sending as Child).ask<LoadOutcome>(question)
    }
    await send('warm-up')
    const idle = lasts.idle > 0 ? { idleP99Ms: (await send('idle')).criticalP99Ms } : {}
    const run = await measure(scenario, lasts.main, serving as Child, () => send('main'))
    return { ...run, ...idle }
  })
}

async function measure(
  scenario: LiveScenario,
  seconds: number,
  serving: Child,
  send: () => Promise<LoadOutcome>,
): Promise<LiveRun> {
  await serving.ask({ begin: scenario.name, seconds })
  const before = await serving.ask<ServerFigures>('figures')
  const outcome = await send()
  const { cpuMs, limit } = await serving.ask<ServerFigures>('figures')
  const { sent, good, denied, lost } = outcome
  if (good + denied + lost !== sent) throw new Error(`${good} + ${denied} + ${lost} is not ${sent}.`)
  return {
    ...outcome,
    cpuMs: cpuMs - before.cpuMs,
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
