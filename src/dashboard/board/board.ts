import type { LimitDemand } from '../../tuning/client-demand.js'
import { inBackground } from '../../util/background-timer.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { FigureReader, PageFigures } from '../figures/shown.js'
import { FEW_LIMITERS } from '../shared/own-reports.js'
import { readDemands, readHistories, readHistory } from './day.js'
import { sourceOf, watchEvents } from './event-sources.js'
import { type Figures, figuresOf } from './figures.js'
import { groupsOf } from './groups.js'
import { problemsOf } from './problems.js'
import { trialProblems, trialsOf } from './trials.js'
import { type Tuning, tuningOf } from './tuning.js'

/** How often a process looks whether there is anything to tell the others. */
const TICK_MS = 2000

/** With more limiters than `FEW_LIMITERS`, figures are not made every second, and less often if so many deny. */
const MANY_MS = TICK_MS
const MANY_DENY_MS = 2 * TICK_MS

/** The figures of all limiters of a dashboard. */
export interface Board extends PageFigures {
  /** Tells other processes what is new, if it is time. The board does so every two seconds. Never rejects. */
  tick(): Promise<void>
  /** Reads what the clients of each limit of a limiter asked for in the last 12 to 24 hours. */
  demands(limiter: string): Promise<readonly LimitDemand[]>
  /** Proposals of limits, and their trials. */
  readonly tuning: Tuning
  /** Ends the reports to other processes. Resolves once they know, or after some seconds. */
  stop(): Promise<void>
}

/** Creates the board of some limiters, and begins to report to other processes. */
export function boardOf(watches: readonly LimiterWatch[], now: () => number = Date.now): Board {
  const groups = groupsOf(watches, now)
  const events = groups.map((group, i) => watchEvents(group, now, `${sourceOf(group)}.${i}`))
  const trials = groups.map((group) => trialsOf(group, now))
  const timer = inBackground(setInterval(tick, TICK_MS))
  let latest: Figures | undefined
  let latestStates = ''
  let refreshing: Promise<void> | undefined

  const hasMany = watches.length > FEW_LIMITERS
  const read = () => figuresOf(groups, watches, now(), hasMany ? MANY_MS : 0)
  const figures = () => (latest ??= read())

  async function tick(): Promise<void> {
    for (const each of events) each.check()
    await Promise.all(trials.map((each) => each.check()))
    await Promise.all(groups.map((group) => group.tick()))
  }

  async function refresh(reader?: FigureReader): Promise<void> {
    for (const watch of watches) watch.probe()
    await Promise.all(groups.map((group) => group.refresh(reader)))
    const restMs = groups.some(({ own }) => own.denyInMany) ? MANY_DENY_MS : MANY_MS
    const isFresh = latest !== undefined && Math.abs(now() - latest.atMs) < restMs
    const states = groups.flatMap((group) => group.members().map(({ state }) => state)).join()
    if (hasMany && isFresh && states === latestStates) return
    latestStates = states
    latest = read()
  }

  function refreshOnce(reader?: FigureReader): Promise<void> {
    refreshing ??= refresh(reader).finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  const board: Board = {
    tick,
    refresh: refreshOnce,
    async asOfNow() {
      await refreshOnce('request')
      return board
    },
    rows: () => figures().rows(),
    series: () => figures().series(),
    outages: () => figures().outages,
    processes: () => figures().processes,
    events: () => figures().events,
    detail: (limiter) => figures().detail(limiter),
    problems: () => [...problemsOf(groups), ...trialProblems(trials)],
    history: (limiter) => readHistory(groups, figures(), limiter, now()),
    histories: () => readHistories(groups, figures(), now()),
    demands: (limiter) => readDemands(groups, limiter),
    tuning: tuningOf(groups, trials),
    record(event) {
      const index = groups.findIndex(({ histories }) => histories.has(event.limiter ?? ''))
      events[Math.max(0, index)]?.record(event)
      latest = undefined // the next look has it
    },
    async stop() {
      clearInterval(timer)
      for (const each of events) each.stop()
      for (const watch of watches) watch.stop()
      await Promise.all(groups.map((group) => group.close()))
    },
  }
  return board
}
