import type { FindingFigures } from '../../../src/dashboard/figures/finding-figures.js'
import type { LoggedEvent } from '../../../src/dashboard/figures/logged-event.js'
import type { LimitRow } from '../../../src/dashboard/figures/report.js'
import type {
  LimiterDetail,
  LimiterHistory,
  OverviewRow,
  PageFigures,
  Series,
  ShownClient,
  ShownOutage,
  ShownProcess,
} from '../../../src/dashboard/figures/shown.js'
import { findingOf } from '../../../src/dashboard/findings/finding-of.js'
import { LONG_STEP_MS, STEP_MS, seriesOf, type Traffic } from './traffic.js'

/** A limiter in a scene. */
export interface LimiterScene extends Traffic {
  readonly name: string
  readonly limit: number
  readonly mode?: 'report'
  /** `false` for a limiter that can only ban, if it can. */
  readonly hasSettings?: false
  readonly longestBlockMs?: number
  readonly denied: readonly ShownClient[]
  /** How many addresses the denials came from. */
  readonly addresses?: number
}

/** A state of the page. */
export interface Scene {
  readonly limiters: readonly LimiterScene[]
  readonly outages: readonly ShownOutage[]
  readonly processes: readonly ShownProcess[]
  readonly events: readonly LoggedEvent[]
  readonly problems?: readonly string[]
  /** Whether all figures change with every second. */
  readonly isLive?: boolean
}

const SHORT_STEPS = 90
const DAY_STEPS = 288
const DAY_MS = 86_400_000

/** Returns the figures of a scene, for the server of the page. Those of a live scene change with time. */
export function figuresOf(make: (nowMs: number) => Scene, now: () => number = Date.now): PageFigures {
  const startedMs = now()
  let nowMs = startedMs
  const scene = make(nowMs)
  const isLive = scene.isLive === true
  const recorded: LoggedEvent[] = [...scene.events]
  const find = (name: string) => scene.limiters.find((each) => each.name === name)
  const wave = () => (isLive ? 1 + 0.2 * Math.sin(nowMs / 7000) : 1)
  const figures: PageFigures = {
    async refresh() {
      nowMs = now()
    },
    async asOfNow() {
      nowMs = now()
      return figures
    },
    rows: () => scene.limiters.map((limiter) => rowOf(limiter, scene, startedMs, wave())),
    series: () =>
      new Map(scene.limiters.map((each) => [each.name, stepsOf(each, isLive ? nowMs : startedMs)] as const)),
    outages: () => scene.outages,
    processes: () => scene.processes,
    events: () => [...recorded],
    problems: () => scene.problems ?? [],
    detail: (name) => detailOf(find(name), wave()),
    async history(name) {
      const found = find(name)
      return found && historyOf(found, scene, startedMs)
    },
    async histories() {
      return new Map(scene.limiters.map((each) => [each.name, daySeriesOf(each, startedMs)] as const))
    },
    record: (event) => void recorded.push({ id: `recorded-${recorded.length}`, atMs: now(), ...event }),
  }
  return figures
}

function rowOf(limiter: LimiterScene, scene: Scene, nowMs: number, wave: number): OverviewRow {
  const { name, perSecond, deniedPerSecond = 0, mode = 'enforce' } = limiter
  const denied = deniedPerSecond * wave
  const outage = scene.outages.find(({ effects }) => effects.some((effect) => effect.limiter === name))
  return {
    name,
    mode,
    finding: findingOf({ ...findingFiguresOf(limiter, nowMs, wave), ...(outage && { outage }) }),
    allowedPerSecond: perSecond * wave,
    deniedPerSecond: denied,
    blockedPerSecond: 0,
    deniedShare: denied === 0 ? 0 : denied / (perSecond * wave + denied),
    store: 'redis',
    storeState: outage === undefined ? 'closed' : 'open',
    longestBlockMs: limiter.longestBlockMs ?? 3_600_000,
    hasSettings: limiter.hasSettings !== false,
    isOverloadGuard: false,
  }
}

function findingFiguresOf(limiter: LimiterScene, nowMs: number, wave: number): FindingFigures {
  const { name, perSecond, deniedPerSecond = 0, denied, addresses = 0 } = limiter
  const networks = sumsOf(
    denied.flatMap((client) => client.networks.map((each) => [each.network, each.denied])),
  )
  const routes = sumsOf(denied.flatMap((client) => client.routes.map((each) => [each.route, each.denied])))
  const [first] = denied
  return {
    nowMs,
    name,
    mode: limiter.mode ?? 'enforce',
    allowedPerSecond: perSecond * wave,
    deniedPerSecond: deniedPerSecond * wave,
    blockedPerSecond: 0,
    ...(first && { deniedSinceMs: first.firstDeniedMs, runSinceMs: first.firstDeniedMs }),
    deniedClients: denied.length,
    denied: denied.reduce((sum, client) => sum + client.denied, 0),
    addresses,
    networkCount: networks.length,
    clients: denied,
    networks: networks.map(([network, count]) => ({ network, denied: count, addresses })),
    routes: routes.map(([route, count]) => ({ route, denied: count })),
    limits: limitsOf(limiter, wave),
  }
}

/** Adds up what has the same name, the largest sum first. */
function sumsOf(counts: readonly (readonly [string, number])[]): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>()
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count)
  return [...sums].sort(([, a], [, b]) => b - a)
}

/** The denials of a scene run since its first client was denied. */
function trafficOf({ perSecond, deniedPerSecond, denied }: LimiterScene): Traffic {
  const [first] = denied
  if (first === undefined || deniedPerSecond === undefined) return { perSecond }
  return { perSecond, deniedPerSecond, deniedSinceMs: first.firstDeniedMs }
}

const stepsOf = (limiter: LimiterScene, nowMs: number): Series =>
  seriesOf(limiter.name, trafficOf(limiter), nowMs, STEP_MS, SHORT_STEPS)

const daySeriesOf = (limiter: LimiterScene, nowMs: number): Series =>
  seriesOf(limiter.name, trafficOf(limiter), nowMs, LONG_STEP_MS, DAY_STEPS)

function historyOf(limiter: LimiterScene, scene: Scene, nowMs: number): LimiterHistory {
  const { name, perSecond } = limiter
  const before = seriesOf(name, { perSecond: 0.85 * perSecond }, nowMs - DAY_MS, LONG_STEP_MS, DAY_STEPS)
  return {
    series: daySeriesOf(limiter, nowMs),
    yesterday: before,
    outages: [{ fromMs: nowMs - 5.2 * 3_600_000, toMs: nowMs - 4.7 * 3_600_000 }],
    marks: scene.events.filter((event) => event.limiter === undefined || event.limiter === name),
  }
}

function limitsOf({ name, limit, perSecond, deniedPerSecond = 0 }: LimiterScene, wave: number): LimitRow[] {
  const [allowed, denied] = [60 * perSecond * wave, 60 * deniedPerSecond * wave].map(Math.round)
  const row = { isLocal: false, allowed: allowed as number, denied: denied as number }
  return [
    { ...row, name, kind: 'sliding-window', limit, windowMs: 60_000, peak: denied === 0 ? 0.62 : 1 },
    {
      ...row,
      name: `${name}-day`,
      kind: 'quota',
      limit: 500 * limit,
      windowMs: 86_400_000,
      denied: 0,
      peak: 0.18,
    },
  ]
}

function detailOf(limiter: LimiterScene | undefined, wave: number): LimiterDetail | undefined {
  if (limiter === undefined) return undefined
  const { name, limit, denied } = limiter
  const near = [0.02, 0.08, 0.15].map((left, i) => ({
    limitName: name,
    identity: `203.0.113.${77 + i}`,
    limit,
    remaining: Math.floor(left * limit),
    isLocal: false,
  }))
  return {
    name,
    limits: limitsOf(limiter, wave),
    denied: denied.map((client) => ({ ...client, deniedPerSecond: client.deniedPerSecond * wave })),
    deniedClients: denied.length,
    near: limiter.perSecond === 0 ? [] : near,
    store: { calls: Math.round(60 * limiter.perSecond), failures: 0, medianMs: 0.4, p99Ms: 3.2 },
  }
}
