/** The labels of a measurement. An identity is never one: there are as many as clients. */
export type Attributes = Readonly<Record<string, string>>

/** A count, or a distribution. Names follow the conventions of OpenTelemetry. */
export interface Instrument {
  readonly kind: 'counter' | 'histogram'
  readonly name: string
  readonly description: string
  /** By UCUM, in braces what is counted. */
  readonly unit: string
  readonly attributes: readonly string[]
  /** The upper bounds of a histogram's buckets. */
  readonly boundaries?: readonly number[]
}

/** A value that is read when metrics are collected. */
export interface Gauge extends Omit<Instrument, 'kind' | 'boundaries'> {
  readonly kind: 'gauge'
}

const LIMITER = 'headgate.limiter.name'
const LIMIT = 'headgate.limit.name'
const OUTCOME = 'headgate.decision.outcome'
const MODE = 'headgate.limiter.mode'
const STORE = 'headgate.store.name'

export const DECISIONS = {
  kind: 'counter',
  name: 'headgate.decisions',
  description: 'Decisions of limiters, by the limit that decided.',
  unit: '{decision}',
  attributes: [LIMITER, LIMIT, OUTCOME, 'headgate.decision.source', MODE],
} as const satisfies Instrument

export const DENIALS = {
  kind: 'counter',
  name: 'headgate.limit.denials',
  description: 'Denied decisions, by each limit that denied. One decision may count for several limits.',
  unit: '{denial}',
  attributes: [LIMITER, LIMIT, MODE],
} as const satisfies Instrument

export const NEAR_LIMIT = {
  kind: 'counter',
  name: 'headgate.near_limit.decisions',
  description: 'Allowed decisions that left a client at most 20% of a limit, by that limit.',
  unit: '{decision}',
  attributes: [LIMITER, LIMIT],
} as const satisfies Instrument

export const CANDIDATE_DECISIONS = {
  kind: 'counter',
  name: 'headgate.candidate.decisions',
  description:
    'Decisions of candidates, by the limit of the candidate and the outcome of the limits in force.',
  unit: '{decision}',
  attributes: [LIMITER, LIMIT, OUTCOME, 'headgate.candidate.outcome'],
} as const satisfies Instrument

export const FAILURES = {
  kind: 'counter',
  name: 'headgate.failures',
  description: 'Failures that are not about one charge, by the event of the limiter that reports them.',
  unit: '{failure}',
  attributes: [LIMITER, 'headgate.event.name'],
} as const satisfies Instrument

export const OPERATION_DURATION = {
  kind: 'histogram',
  name: 'headgate.store.operation.duration',
  description: 'Time that a limiter waited for its store.',
  unit: 's',
  attributes: [LIMITER, STORE, 'headgate.store.operation', 'error.type'],
  boundaries: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
} as const satisfies Instrument

export const BATCH_SIZE = {
  kind: 'histogram',
  name: 'headgate.store.batch.size',
  description: 'Operations that a store sent to its server in one batch.',
  unit: '{operation}',
  attributes: [STORE],
  boundaries: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
} as const satisfies Instrument

const BREAKER_STATE = {
  kind: 'gauge',
  name: 'headgate.circuit_breaker.state',
  description:
    "1 for the state of a limiter's circuit breaker, 0 for other states. Limiters with one name report the worst.",
  unit: '1',
  attributes: [LIMITER, STORE, 'headgate.circuit_breaker.state'],
} as const satisfies Gauge

export const STORE_KEYS = {
  kind: 'gauge',
  name: 'headgate.store.keys',
  description: 'Keys that a memory store holds.',
  unit: '{key}',
  attributes: [STORE],
} as const satisfies Gauge

export const INSTRUMENTS: readonly Instrument[] = [
  DECISIONS,
  DENIALS,
  NEAR_LIMIT,
  CANDIDATE_DECISIONS,
  FAILURES,
  OPERATION_DURATION,
  BATCH_SIZE,
]

export const GAUGES: readonly Gauge[] = [BREAKER_STATE, STORE_KEYS]
