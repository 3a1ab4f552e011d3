import { type KeyedPolicy, keysOf, type Outcome } from '../stores/operation.js'
import { whyTimedOut } from '../stores/shared/explain-timeouts.js'
import { resentAtMs } from '../stores/shared/resends.js'
import type { Store } from '../stores/store.js'
import { asStoreError, atServer, StoreError } from '../stores/store-error.js'
import { Deadlines, TimeoutError } from '../util/timeout.js'
import type { BreakerState } from './breaker-state.js'
import { type Call, type End, HELD, type Layer, pipeOf } from './call.js'
import type { Admission, OnBreakerChange } from './circuit-breaker.js'
import { serverBreakers } from './server-breakers.js'
import { publishToStoreChannel, storeChannel } from './store-channel.js'

/** The layer that guards a remote store, and the limiter that calls it. */
export interface Guard extends Layer {
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
export function guardOf(store: Store, end: End, options: GuardOptions): Guard {
  const { isPublished = true, timeoutMs, onChange = () => {} } = options
  const origin = { limiter: options.limiter, instance: {}, store: store.name }
  const breakers = serverBreakers(store, (...change) => {
    const [state, cause, server] = change
    const message = { type: 'state', ...origin, state, cause } as const
    if (isPublished) publishToStoreChannel(server === undefined ? message : { ...message, server })
    onChange(...change)
  })
  const deadlines = new Deadlines(timeoutMs)
  const client = store.origin?.client

  function before(call: Call): CircuitOpenError | typeof HELD | undefined {
    const breaker = breakers.only ?? breakers.of(keysOf(call.operation))
    call.generation = breaker.admit()
    if (call.generation !== undefined) return undefined
    if (breaker.state !== 'half-open') return new CircuitOpenError(store.name, breaker)
    sendAfterProbe(call, breaker)
    return HELD
  }

  /**
   * Sends another call in place of one, once the probe has succeeded. That call has all the time that the
   * store gets. The probe was sent first, so it also times out first.
   */
  async function sendAfterProbe(call: Call, breaker: Admission): Promise<void> {
    await breaker.nextChange()
    if (call.isSettled) return
    if (breaker.state !== 'closed') {
      deadlines.stop(call)
      call.settle(new CircuitOpenError(store.name, breaker))
      return
    }
    call.isReplaced = true
    const settle = (outcome: Outcome) => {
      if (call.isSettled && isTimeout(outcome)) return
      deadlines.stop(call)
      call.settle(outcome)
    }
    const outcome = replacements.send(call.operation, settle, settle)
    if (outcome !== undefined) settle(outcome)
  }

  function after(call: Call, outcome: Outcome): Outcome {
    deadlines.stop(call)
    const { generation } = call
    if (generation === undefined) return outcome
    if (!(outcome instanceof Error)) generation.recordSuccess(outcome.type === 'charge' && !outcome.allowed)
    // A server that replied works, whatever it said.
    else if (atServer(outcome, generation.server).replied) generation.recordSuccess(true)
    else generation.recordFailure(outcome)
    if (isPublished && storeChannel.hasSubscribers) publishCall(call, outcome)
    return outcome
  }

  function expire(call: Call): void {
    const isSent = call.generation !== undefined
    const isExtended = call.dueAtMs > call.sentAtMs + timeoutMs
    if (isSent && !isExtended && (resentAtMs(client) ?? 0) > call.sentAtMs) deadlines.watch(call)
    else if (isSent || call.isReplaced) call.settle(timeoutError())
    else call.settle(new CircuitOpenError(store.name, breakers.of(keysOf(call.operation))))
  }

  function timeoutError(): StoreError {
    return asStoreError(store.name, new TimeoutError(timeoutMs), { hint: whyTimedOut(client) })
  }

  function publishCall({ operation, sentAtMs }: Call, outcome: Outcome): void {
    publishToStoreChannel({
      type: 'call',
      ...origin,
      operation: operation.type,
      durationMs: performance.now() - sentAtMs,
      ...(outcome instanceof StoreError && { error: outcome }),
    })
  }

  const guard: Guard = {
    before,
    after,
    deadlines,
    expire,
    state: (keys) => (keys === undefined ? breakers.state : breakers.of(keys).state),
    probeKeys: breakers.probeKeys,
    async close() {
      await deadlines.idle()
      try {
        await closeStore(store, deadlines)
      } finally {
        publishToStoreChannel({ type: 'close', ...origin })
      }
    },
  }
  const replacements = pipeOf([guard], end)
  return guard
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
