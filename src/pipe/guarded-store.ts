import { type KeyedPolicy, keysOf, type Operation, type Outcome } from '../stores/operation.js'
import { resentAtMs } from '../stores/shared/resends.js'
import { whyTimedOut } from '../stores/shared/time-outs.js'
import type { Store } from '../stores/store.js'
import { asStoreError, atServer, StoreError } from '../stores/store-error.js'
import { Deadlines, TimeoutError } from '../util/timeout.js'
import type { BreakerState } from './breaker-state.js'
import type { Admission, Generation, OnBreakerChange } from './circuit-breaker.js'
import { type OnLate, type Pipe, type SettleAny, sendFor } from './pipe.js'
import { serverBreakers } from './server-breakers.js'
import { publishToStoreChannel, storeChannel } from './store-channel.js'
import { pipeTo } from './store-pipe.js'

/** A pipe to a store, guarded if it is remote. */
export interface GuardedStore extends Pipe {
  readonly name: string
  /** The worst state of the circuit breakers of its servers, or of those that keep `keys`. */
  state(keys?: readonly KeyedPolicy[]): BreakerState
  /** Returns `key`, and one more key for each other server whose circuit breaker is not closed. */
  probeKeys(key: string): readonly string[]
  /** Waits for pending calls, then closes the store, each within the time-out. */
  close(): Promise<void>
}

/** The error of a call that an open circuit breaker stopped. */
export class CircuitOpenError extends StoreError {
  constructor(store: string, { cause, server }: Pick<Admission, 'cause' | 'server'>) {
    const which = server === undefined ? '' : ` of ${server}`
    const message = `the circuit breaker${which} is open after repeated failures (${cause?.message})`
    super(store, message, { cause, server, unsent: true })
  }
}

/** How a store is guarded. */
export interface GuardOptions {
  /** The name of the limiter, for the channel `headgate:store`. */
  readonly limiter?: string | undefined
  /** Whether calls are published to that channel. Default true. */
  readonly isPublished?: boolean
  readonly timeoutMs: number
  readonly onChange?: OnBreakerChange
}

/**
 * Creates the guard of a store. It limits each call by a time-out, and stops it if a circuit breaker of a
 * server it needs is open. A reply after the time-out is not used. Its units stay taken, unless `onLate`
 * releases them. The time of calls that the server rejected unrun and got again begins anew, once. A
 * synchronous store needs no promise and no timer.
 *
 * While a probe is pending, calls wait for it within their own time-outs, so that the store decides the
 * first burst after an outage. A call whose time-out ends that wait is never sent.
 */
export function guardStore(store: Store, options: GuardOptions): GuardedStore {
  const { isPublished = true, timeoutMs, onChange = () => {} } = options
  const origin = { limiter: options.limiter, instance: {}, store: store.name }
  const pipe = pipeTo(store)
  const breakers = serverBreakers(store, (...change) => {
    const [state, cause, server] = change
    const message = { type: 'state', ...origin, state, cause } as const
    if (isPublished) publishToStoreChannel(server === undefined ? message : { ...message, server })
    onChange(...change)
  })
  const deadlines = new Deadlines(timeoutMs)
  const timeoutError = () =>
    asStoreError(store.name, new TimeoutError(timeoutMs), { hint: whyTimedOut(store.origin?.client) })

  /** Sends an operation, unless a circuit breaker stops it. `admitted` is set if it has waited for a probe. */
  function send(
    operation: Operation,
    settle: SettleAny,
    onLate?: OnLate,
    admitted?: Generation,
  ): Outcome | undefined {
    const breaker = breakers.only ?? breakers.of(keysOf(operation))
    const generation = admitted ?? breaker.admit()
    if (generation === undefined) {
      if (breaker.state !== 'half-open') return new CircuitOpenError(store.name, breaker)
      sendAfterProbe(operation, settle, onLate, breaker)
      return undefined
    }
    const sentAtMs = performance.now()
    let pendingSettle: SettleAny | undefined = settle // dropped at the time-out, since it keeps the request in memory
    const immediateOutcome = pipe.send(operation, (outcome) => {
      if (deadlines.stop(deadline)) pendingSettle?.(recordOutcome(operation, sentAtMs, outcome, generation))
      else onLate?.(outcome, operation)
    })
    if (immediateOutcome !== undefined)
      return recordOutcome(operation, sentAtMs, immediateOutcome, generation)
    const expire = () => {
      const error = timeoutError()
      pendingSettle?.(recordOutcome(operation, sentAtMs, error, generation))
      pendingSettle = undefined
    }
    let deadline = deadlines.start(() => {
      const isResent = (resentAtMs(store.origin?.client) ?? 0) > sentAtMs
      if (isResent) deadline = deadlines.start(expire)
      else expire()
    }, sentAtMs)
    return undefined
  }

  /**
   * Sends an operation once the probe has succeeded. The probe was sent first, so it also times out first.
   */
  async function sendAfterProbe(
    operation: Operation,
    settle: SettleAny,
    onLate: OnLate | undefined,
    breaker: Admission,
  ): Promise<void> {
    const circuitOpen = () => new CircuitOpenError(store.name, breaker)
    let isSent = false
    let hasTimedOut = false
    const deadline = deadlines.start(() => {
      hasTimedOut = true
      settle(isSent ? timeoutError() : circuitOpen())
    })
    const settleInTime: SettleAny = (outcome) => {
      if (deadlines.stop(deadline)) settle(outcome)
      else if (!isTimeout(outcome)) onLate?.(outcome, operation)
    }
    await breaker.nextChange()
    if (hasTimedOut) return
    const generation = breaker.state === 'closed' ? breaker.admit() : undefined
    isSent = generation !== undefined
    const immediateOutcome = generation ? send(operation, settleInTime, onLate, generation) : circuitOpen()
    if (immediateOutcome !== undefined) settleInTime(immediateOutcome)
  }

  function publishCall({ type: operation }: Operation, sentAtMs: number, outcome: Outcome): void {
    publishToStoreChannel({
      type: 'call',
      ...origin,
      operation,
      durationMs: performance.now() - sentAtMs,
      ...(outcome instanceof StoreError && { error: outcome }),
    })
  }

  /** Records an outcome. An error counts as a success if the server replied. Returns the outcome. */
  function recordOutcome(
    operation: Operation,
    sentAtMs: number,
    outcome: Outcome,
    generation: Generation,
  ): Outcome {
    if (!(outcome instanceof Error)) generation.recordSuccess(outcome.type === 'charge' && !outcome.allowed)
    else if (atServer(outcome, generation.server).replied) generation.recordSuccess(true)
    else generation.recordFailure(outcome)
    if (isPublished && storeChannel.hasSubscribers) publishCall(operation, sentAtMs, outcome)
    return outcome
  }

  return {
    name: store.name,
    state: (keys) => (keys === undefined ? breakers.state : breakers.of(keys).state),
    probeKeys: breakers.probeKeys,
    send: sendFor(send),
    async close() {
      await deadlines.idle()
      try {
        await closeStore(store, deadlines)
      } finally {
        publishToStoreChannel({ type: 'close', ...origin })
      }
    },
  }
}

/** Closes what a store opened itself. Does not wait longer than the time-out. */
export async function closeStore(store: Store, deadlines: Deadlines): Promise<void> {
  try {
    await deadlines.limit(Promise.resolve(store.close?.()))
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
  }
}

/** Returns whether an outcome is a time-out: the store may have applied the operation, or may yet do so. */
export function isTimeout(outcome: unknown): boolean {
  return outcome instanceof StoreError && outcome.cause instanceof TimeoutError
}
