import type {
  LimiterDetail,
  OverviewRow,
  PageFigures,
  Series,
  ShownClient,
} from '../../../../src/dashboard/figures/shown.js'

/** Figures that a test sets. */
export interface GivenFigures extends PageFigures {
  shown: {
    rows: OverviewRow[]
    series: Map<string, Series>
    outages: ReturnType<PageFigures['outages']>
    processes: ReturnType<PageFigures['processes']>
    events: ReturnType<PageFigures['events']>
    problems: readonly string[]
    details: Map<string, LimiterDetail>
  }
}

/** Creates figures without anything, which a test fills. */
export function givenFigures(own: Partial<PageFigures> = {}): GivenFigures {
  const shown: GivenFigures['shown'] = {
    rows: [],
    series: new Map(),
    outages: [],
    processes: [],
    events: [],
    problems: [],
    details: new Map(),
  }
  const figures: GivenFigures = {
    shown,
    refresh: async () => undefined,
    asOfNow: async () => figures,
    rows: () => shown.rows,
    series: () => shown.series,
    outages: () => shown.outages,
    processes: () => shown.processes,
    events: () => shown.events,
    problems: () => shown.problems,
    detail: (name) => shown.details.get(name),
    history: async () => undefined,
    histories: async () => new Map(),
    record: () => undefined,
    ...own,
  }
  return figures
}

export function row(name: string, allowedPerSecond = 0): OverviewRow {
  const finding = {
    kind: 'calm',
    level: 'calm',
    sentence: '',
    identities: [],
    networks: [],
    routes: [],
  } as const
  return {
    name,
    mode: 'enforce',
    finding,
    allowedPerSecond,
    deniedPerSecond: 0,
    blockedPerSecond: 0,
    deniedShare: 0,
    store: 'memory',
    storeState: 'closed',
    longestBlockMs: 0,
    hasSettings: false,
    isOverloadGuard: false,
  }
}

export function series(fromMs: number, allowed: readonly (number | null)[]): Series {
  return { stepMs: 10_000, fromMs, allowed, denied: allowed.map(() => 0) }
}

export function client(identity: string, own: Partial<ShownClient> = {}): ShownClient {
  return {
    limitName: 'api',
    identity,
    denied: 1,
    deniedPerSecond: 0,
    firstDeniedMs: 0,
    lastDeniedMs: 0,
    routes: [],
    addresses: 1,
    networks: [],
    ...own,
  }
}

export function detail(name: string, denied: readonly ShownClient[] = []): LimiterDetail {
  return {
    name,
    limits: [],
    denied,
    deniedClients: denied.length,
    near: [],
    store: { calls: 0, failures: 0 },
  }
}
