import type { Priority } from '../../../src/overload/cohorts.js'
import type { Random } from '../simulate/random.js'

/** What a server does for a request. */
export type Work = 'backend' | 'small' | 'quick' | 'mixed' | 'cpu' | 'sync'

/** A kind of server, and how clients use it. */
export interface ServerKind {
  readonly title: string
  /** What it can do, in requests a millisecond. */
  readonly capacity: number
  /** How long clients wait. */
  readonly patienceMs: number
  /** The largest limit with which responses still come in time. Absent where no limit is right. */
  readonly fixedLimit?: number
  /** What responds, if it is not the process itself. Times are the mean of an exponential distribution. */
  readonly backend?: { readonly workers: number; serviceMs(path: string): number }
}

const REPORT_SHARE = 0.1
/** The path of requests that take longer, in a server with mixed ones. */
export const REPORT_PATH = '/report'
export const reportOr = (random: Random): string => (random() < REPORT_SHARE ? REPORT_PATH : '/')

const REPORT_MS = 50
const READ_MS = 1
const MIXED_MS = REPORT_SHARE * REPORT_MS + (1 - REPORT_SHARE) * READ_MS

/** What a request burns in a server without a backend. Parsing and responding take about 0.2 ms. */
export const BURN_MS = 5
const BURNING_CAPACITY = 1 / (BURN_MS + 0.2)

export const WORKERS = 8

export const SERVER_KINDS: Readonly<Record<Work, ServerKind>> = {
  backend: {
    title: `a backend of ${WORKERS} workers, 10 ms each`,
    ...{ capacity: WORKERS / 10, patienceMs: 100, fixedLimit: 16 },
    backend: { workers: WORKERS, serviceMs: () => 10 },
  },
  small: {
    // so that ten times as much is not more than the process can deny
    title: 'a backend of 4 workers, 10 ms each',
    ...{ capacity: 4 / 10, patienceMs: 100, fixedLimit: 12 },
    backend: { workers: 4, serviceMs: () => 10 },
  },
  quick: {
    title: 'a backend of 1 worker, 1 ms each',
    ...{ capacity: 1, patienceMs: 50, fixedLimit: 16 },
    backend: { workers: 1, serviceMs: () => 1 },
  },
  mixed: {
    title: `a backend of ${WORKERS} workers, ${READ_MS} ms each, and ${REPORT_MS} ms for a tenth`,
    ...{ capacity: WORKERS / MIXED_MS, patienceMs: 200, fixedLimit: 16 },
    backend: { workers: WORKERS, serviceMs: (path) => (path === REPORT_PATH ? REPORT_MS : READ_MS) },
  },
  cpu: {
    title: `${BURN_MS} ms of its own CPU, after an await`,
    ...{ capacity: BURNING_CAPACITY, patienceMs: 200, fixedLimit: 16 },
  },
  sync: {
    title: `${BURN_MS} ms of its own CPU, without an await`,
    ...{ capacity: BURNING_CAPACITY, patienceMs: 200 },
  },
}

/** What can guard a server. */
export const GUARDS = [
  ...['none', 'fixed', 'loop delay', 'under-pressure', 'toobusy-js', 'overload-protection'],
  ...['Gradient2', 'Envoy', 'headgate'],
]
/** The contender whose goodput is 1. */
export const REFERENCE = 'fixed'
/** The contender that must reach the goals. */
export const OURS = 'headgate'
/** Those that do more than to measure the event loop, and one that does just that. */
export const MAIN_GUARDS = ['none', REFERENCE, 'loop delay', 'Gradient2', 'Envoy', OURS]

/** Who sends a request. */
export interface Sender {
  readonly client: number
  readonly priority: Priority
  readonly tenant?: string
  /** Default: `/`. */
  readonly path?: string
  /** Under which name it is counted beside the sum. */
  readonly group?: string
}

/** Traffic to one kind of server. Times are shares of the scenario's duration, from 0 to 1. */
export interface LiveScenario {
  readonly name: string
  readonly work: Work
  /** Default: `MAIN_GUARDS`. */
  readonly guards?: readonly string[]
  /** How many times as long as others it takes. Default: 1. */
  readonly length?: number
  /** The most requests that clients send, in times of the capacity. */
  readonly maxTimes: number
  /** Default: always `maxTimes`. */
  timesAt?(share: number): number
  /** Workers of the backend. Default: all. */
  workersAt?(share: number): number
  /** Default: all alike, from a thousand clients. In the warm-up, the share is negative. */
  senderAt?(share: number, random: Random): Partial<Sender>
  /** After how long a client tries again that got no response in time, or 503. Default: it does not. */
  retryAfterMs?(attempt: number, random: Random): number | undefined
  /** For the compiler, and for what a guard has to know. Nothing of it is counted. */
  readonly warmUp?: { readonly times: number; readonly seconds: number }
  /** Whether some requests are critical. Then the same is measured of an idle server first. */
  readonly hasCritical?: boolean
  /** How long the process stops each second, as for garbage collection. */
  readonly stopMs?: number
  /** Whether requests come over the connections of a proxy. Default: each client has its own. */
  readonly isProxied?: boolean
  /** When all is well again, if something is wrong before. */
  readonly calmFrom?: number
}

/** What is sent before a scenario, and the scenario itself. */
export type Phase = 'warm-up' | 'idle' | 'main'

const WARM_UP = { times: 0.5, seconds: 1 }
const IDLE = { times: 0.1, seconds: 2 }

/** Returns how long each phase takes, for scenarios of so many seconds: whole seconds, since each is counted. */
export function secondsOf(
  { warmUp = WARM_UP, hasCritical, length = 1 }: LiveScenario,
  seconds: number,
): Readonly<Record<Phase, number>> {
  const main = Math.max(1, Math.round(length * seconds))
  return { 'warm-up': warmUp.seconds, idle: hasCritical ? IDLE.seconds : 0, main }
}

/** Returns what is sent in a phase of a scenario. */
export function phaseOf(scenario: LiveScenario, phase: Phase): LiveScenario {
  if (phase === 'main') return scenario
  const { name, work, isProxied = false, warmUp = WARM_UP, senderAt } = scenario
  const { times } = phase === 'idle' ? IDLE : warmUp
  const sender = (_share: number, random: Random): Partial<Sender> =>
    phase === 'idle' ? { priority: 'critical' } : { ...senderAt?.(-1, random) }
  return { name, work, isProxied, maxTimes: times, senderAt: sender }
}
