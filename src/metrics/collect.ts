import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { CandidateMessage } from '../limiter/candidate/candidate.js'
import type { DecisionMessage } from '../limiter/charge-limits.js'
import type { Decision } from '../limiter/decision.js'
import type { FailureMessage } from '../limiter/events.js'
import { isNearLimit, isOfClient } from '../limiter/near-limit.js'
import { BREAKER_STATES } from '../pipe/breaker-state.js'
import type { StoreCall, StoreMessage } from '../pipe/store-channel.js'
import { fieldsOf } from '../util/values.js'
import { breakerStates } from './breaker-states.js'
import {
  type Attributes,
  BATCH_SIZE,
  CANDIDATE_DECISIONS,
  DECISIONS,
  DENIALS,
  FAILURES,
  type Gauge,
  type Instrument,
  NEAR_LIMIT,
  OPERATION_DURATION,
  STORE_KEYS,
} from './instruments.js'
import { limitLabels } from './limit-names.js'
import type { NamedStores } from './options.js'

/** Takes one measurement. */
export type Measure = (instrument: Instrument, value: number, attributes: Attributes) => void

/** What a gauge reads: each value with its labels. */
export type MetricReading = readonly (readonly [value: number, attributes: Attributes])[]

/** Measures what all limiters of this process do, until it is stopped. */
export interface Collection {
  /** Returns what a gauge has now. */
  read(gauge: Gauge): MetricReading
  stop(): void
}

const UNNAMED = '_default'

/** Starts to measure by the diagnostics channels of headgate. `stores` are those whose keys are counted. */
export function collect(measure: Measure, stores: NamedStores): Collection {
  const labelOf = limitLabels()
  const breakers = breakerStates()

  function limitAttributes(limiter: string, name: string): Attributes {
    return { 'headgate.limiter.name': limiter, 'headgate.limit.name': labelOf(limiter, name) }
  }

  function countDecision(message: unknown): void {
    const { limiter = UNNAMED, mode, decision } = message as DecisionMessage
    const { allowed, limitName, source, parts } = decision
    const ofLimit = (name: string) => limitAttributes(limiter, name)
    measure(DECISIONS, 1, {
      ...ofLimit(limitName),
      'headgate.decision.outcome': outcomeOf(decision),
      'headgate.decision.source': source,
      'headgate.limiter.mode': mode,
    })
    for (const part of parts) {
      if (!allowed && !part.allowed)
        measure(DENIALS, 1, { ...ofLimit(part.name), 'headgate.limiter.mode': mode })
      if (allowed && isOfClient(decision) && isNearLimit(part)) measure(NEAR_LIMIT, 1, ofLimit(part.name))
    }
  }

  function countCandidate(message: unknown): void {
    const { limiter = UNNAMED, candidate, decision } = message as CandidateMessage
    measure(CANDIDATE_DECISIONS, 1, {
      ...limitAttributes(limiter, candidate.limitName),
      'headgate.decision.outcome': outcomeOf(decision),
      'headgate.candidate.outcome': outcomeOf(candidate),
    })
  }

  function countFailure(message: unknown): void {
    const { limiter = UNNAMED, event } = message as FailureMessage
    measure(FAILURES, 1, { 'headgate.limiter.name': limiter, 'headgate.event.name': event })
  }

  function measureStore(message: unknown): void {
    const event = message as StoreMessage
    if (event.type === 'batch') {
      measure(BATCH_SIZE, event.size, { 'headgate.store.name': event.store })
      return
    }
    breakers.update(event)
    if (event.type !== 'call') return
    const { limiter = UNNAMED, store } = event
    measure(OPERATION_DURATION, event.durationMs / 1000, {
      'headgate.limiter.name': limiter,
      'headgate.store.name': store,
      'headgate.store.operation': event.operation,
      ...errorType(event),
    })
  }

  const listeners = [
    ['headgate:decision', countDecision],
    ['headgate:candidate', countCandidate],
    ['headgate:failure', countFailure],
    ['headgate:store', measureStore],
  ] as const
  for (const [channel, listener] of listeners) subscribe(channel, listener)

  return {
    read(gauge) {
      if (gauge === STORE_KEYS)
        return Object.entries(stores).map(([name, { size }]) => [size, { 'headgate.store.name': name }])
      return breakers.worst().flatMap(({ limiter = UNNAMED, store, state: current }) =>
        BREAKER_STATES.map((state) => {
          const labels = { 'headgate.limiter.name': limiter, 'headgate.store.name': store }
          return [Number(state === current), { ...labels, 'headgate.circuit_breaker.state': state }] as const
        }),
      )
    },
    stop() {
      for (const [channel, listener] of listeners) unsubscribe(channel, listener)
    },
  }
}

function outcomeOf({ allowed }: Decision): string {
  return allowed ? 'allowed' : 'denied'
}

/** Returns the label of a failed call: the code of what caused it, such as `ECONNREFUSED`, or its name. */
function errorType({ error }: StoreCall): Attributes {
  if (error === undefined) return {}
  const { code, name } = fieldsOf(error.cause ?? error)
  const type = [code, name].find((each) => typeof each === 'string') ?? '_OTHER'
  return { 'error.type': String(type) }
}
