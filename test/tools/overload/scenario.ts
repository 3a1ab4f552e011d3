import type { Priority } from '../../../src/overload/cohorts.js'
import type { Random } from '../simulate/random.js'

/** What a server does for a request. */
export type Work = 'backend' | 'cpu' | 'sync'

/** A kind of server, and how clients use it. */
export interface ServerKind {
  readonly title: string
  /** What it can do, in requests a millisecond. */
  readonly capacity: number
  /** How long clients wait. */
  readonly patienceMs: number
  /** The largest limit with which responses still come in time. */
  readonly fixedLimit: number
}

/** Workers of the backend, and how long each takes for a request on average. */
export const WORKERS = 8
export const SERVICE_MS = 10
/** What a request burns in a server without a backend. Parsing and responding take about 0.2 ms. */
export const BURN_MS = 5
const BURNING_CAPACITY = 1 / (BURN_MS + 0.2)

export const SERVER_KINDS: Readonly<Record<Work, ServerKind>> = {
  backend: {
    title: `a backend of ${WORKERS} workers, ${SERVICE_MS} ms each`,
    ...{ capacity: WORKERS / SERVICE_MS, patienceMs: 100, fixedLimit: 16 },
  },
  cpu: {
    title: `${BURN_MS} ms of its own CPU, after an await`,
    ...{ capacity: BURNING_CAPACITY, patienceMs: 200, fixedLimit: 16 },
  },
  sync: {
    title: `${BURN_MS} ms of its own CPU, without an await`,
    ...{ capacity: BURNING_CAPACITY, patienceMs: 200, fixedLimit: 16 },
  },
}

/** Who sends a request. */
export interface Sender {
  readonly client: number
  readonly priority: Priority
  readonly tenant?: string
  /** Under which name it is counted beside the sum. */
  readonly group?: string
}

/** Traffic to one kind of server. Times are shares of the scenario's duration, from 0 to 1. */
export interface LiveScenario {
  readonly name: string
  readonly work: Work
  /** The most requests that clients send, in times of the capacity. */
  readonly maxTimes: number
  /** Default: always `maxTimes`. */
  timesAt?(share: number): number
  /** Workers of the backend. Default: all. */
  workersAt?(share: number): number
  /** Default: all alike, from a thousand clients. */
  senderAt?(share: number, random: Random): Partial<Sender>
  /** Whether requests come over the connections of a proxy. Default: each client has its own. */
  readonly isProxied?: boolean
  /** When all is well again, if something is wrong before. */
  readonly calmFrom?: number
}
