import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Board, ShownLimiter, ShownStore, Snapshot } from './board.js'
import type { LoggedEvent } from './logged-event.js'
import type {
  Finding,
  LimiterDetail,
  OverviewRow,
  PageFigures,
  Series,
  ShownOutage,
  ShownProcess,
} from './shown.js'

/** The most events that are kept. */
const MAX_EVENTS = 1000
const STARTED_MS = Date.now() - 1000 * process.uptime()

/** Returns what pages show of a board: what it counts, without a history. */
export function figuresOf(board: Board): PageFigures {
  let snapshot: Snapshot = { atMs: 0, slotMs: 1, limiters: [] }
  const events: LoggedEvent[] = []
  const find = (name: string) => snapshot.limiters.find((each) => each.name === name)
  const seriesByName = () =>
    new Map(snapshot.limiters.map((each) => [each.name, seriesOf(each, snapshot.slotMs)] as const))
  return {
    async refresh() {
      await board.refresh()
      snapshot = board.snapshot()
    },
    rows: () => snapshot.limiters.map(rowOf),
    series: seriesByName,
    outages: () => outagesOf(snapshot.limiters),
    processes: () => processesOf(snapshot),
    problems: () => problemsOf(snapshot.limiters),
    events: () => events,
    detail: (name) => detailOf(find(name), snapshot.atMs),
    async history(name) {
      const found = find(name)
      return found && { series: seriesOf(found, snapshot.slotMs), outages: [], marks: [] }
    },
    async histories() {
      return seriesByName()
    },
    record(event) {
      events.push({ id: randomUUID(), atMs: Date.now(), ...event })
      if (events.length > MAX_EVENTS) events.shift()
    },
  }
}

function rowOf(limiter: ShownLimiter): OverviewRow {
  const { name, mode, traffic, store } = limiter
  const { allowed, denied } = traffic.perSecond
  return {
    name,
    mode,
    finding: findingOf(limiter),
    allowedPerSecond: allowed,
    deniedPerSecond: denied,
    deniedShare: allowed + denied === 0 ? 0 : denied / (allowed + denied),
    store: store.name,
    storeState: store.state,
    hasSettings: false,
  }
}

function findingOf({ traffic, store, denied }: ShownLimiter): Finding {
  const none = { identities: [], networks: [], routes: [] }
  if (store.outage !== undefined) {
    const sentence = `${store.name} has been unavailable since {${store.outage.sinceMs}}: ${effectOf(store)}.`
    return { kind: 'store-outage', level: 'critical', sentence, sinceMs: store.outage.sinceMs, ...none }
  }
  const perSecond = traffic.perSecond.denied
  if (perSecond === 0) return { kind: 'calm', level: 'calm', sentence: 'No client is denied.', ...none }
  const sentence = `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)} denials a second.`
  const identities = denied.map(({ identity }) => identity)
  return { kind: 'many-denied', level: 'warning', sentence, ...none, identities }
}

function effectOf({ onStoreError, fallbackShare }: ShownStore): string {
  if (onStoreError === 'allow') return 'requests are allowed without a limit'
  if (onStoreError === 'deny') return 'requests are denied'
  if (onStoreError === 'function') return 'onStoreError decides'
  const share = fallbackShare === 1 ? 'all' : `${Math.round(100 * fallbackShare)} %`
  return `local limits apply, with ${share} of each limit in each process`
}

function seriesOf({ traffic }: ShownLimiter, stepMs: number): Series {
  const { lastSlot, allowed, denied } = traffic
  return { stepMs, fromMs: (lastSlot - allowed.length + 1) * stepMs, allowed, denied }
}

function outagesOf(limiters: readonly ShownLimiter[]): ShownOutage[] {
  const affected = limiters.flatMap(({ name, store }) =>
    store.outage === undefined ? [] : [{ name, store, outage: store.outage }],
  )
  const stores = new Set(affected.map(({ store }) => store.name))
  return Array.from(stores, (name) => {
    const own = affected.filter(({ store }) => store.name === name)
    const decisions = own.map(({ outage }) => outage.allowed + outage.denied + outage.local)
    return {
      store: name,
      servers: [],
      sinceMs: Math.min(...own.map(({ outage }) => outage.sinceMs)),
      effects: own.map(({ name: limiter, store }) => ({ limiter, text: effectOf(store) })),
      decisions: decisions.reduce((sum, each) => sum + each, 0),
      processes: Math.max(...own.map(({ outage }) => outage.processes)),
    }
  })
}

/** Returns this process, and the others that a board counts without knowing them. */
function processesOf({ atMs, limiters }: Snapshot): ShownProcess[] {
  const own = thisProcess(atMs)
  const count = Math.max(1, ...limiters.map(({ processes }) => processes))
  const others = Array.from({ length: count - 1 }, (_, i) => {
    return { ...own, id: `other-${i}`, host: 'another process', pid: 0, share: 0, isThis: false }
  })
  return [own, ...others]
}

function problemsOf(limiters: readonly ShownLimiter[]): string[] {
  const problems = limiters.flatMap(({ store }) => store.problem ?? [])
  return Array.from(
    new Set(problems),
    (problem) => `The figures are those of this process alone (${problem}).`,
  )
}

function thisProcess(nowMs: number): ShownProcess {
  const { pid } = process
  return {
    id: String(pid),
    host: hostname(),
    pid,
    version: '',
    startedAtMs: STARTED_MS,
    lastSeenMs: nowMs,
    state: 'alive',
    share: 1,
    isThis: true,
  }
}

/** A client's times of denial are not counted here: it was denied within the last 15 minutes. */
function detailOf(limiter: ShownLimiter | undefined, nowMs: number): LimiterDetail | undefined {
  if (limiter === undefined) return undefined
  const { name, limits, near, denied } = limiter
  const unknown = { deniedPerSecond: 0, firstDeniedMs: nowMs, lastDeniedMs: nowMs, routes: [] }
  return {
    name,
    limits,
    near,
    denied: denied.map((client) => ({ ...client, ...unknown, addresses: 0, networks: [] })),
    deniedClients: denied.length,
  }
}
