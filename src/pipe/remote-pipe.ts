import { isIsolate } from '../platform.js'
import { type KeyedPolicy, keysOf, type Operation, type Outcome } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { atServer, StoreError } from '../stores/store-error.js'
import { createDeadlines, type Deadlines, TimeoutError, timeout } from '../util/timeout.js'
import type { BreakerState } from './breaker-state.js'
import { Call } from './call.js'
import { timeoutOutcome } from './call-timeout.js'
import type { Admission } from './circuit-breaker.js'
import { type DenialCache, denialCacheOf } from './denial-cache.js'
import { CircuitOpenError, isTimeout } from './errors.js'
import { type DenialTimes, type Leases, leasesOf } from './lease/leases.js'
import {
  type ImmediateOutcome,
  type OnLate,
  type Pipe,
  type PipeOptions,
  type RefundingPipe,
  type Settle,
  type SettleAny,
  sendFor,
} from './pipe.js'
import { resendRefunds } from './resend-refunds.js'
import { type ServerBreakers, serverBreakers } from './server-breakers.js'
import { publishToStoreChannel, storeChannel } from './store-channel.js'
import { endAt, type StoreEnd } from './store-end.js'

/**
 * The pipe from a limiter to a remote store. An operation passes, in order, the leases, if the store is
 * leased, the denial cache, the circuit breakers of the servers it needs, and the batcher.
 *
 * If the pipe tracks undecided requests, the order is different. The cache comes first, so that it never
 * records a denial before the tracking has found its cause. The leases come last, so that the tracking also
 * sees the units that they grant.
 *
 * Each call has a time-out. A reply after it is not used: its units stay taken, unless `onLate` releases
 * them. A synchronous store needs no promise and no timer.
 *
 * While a circuit breaker's probe is pending, calls wait for it within their own time-outs, so that the
 * store decides the first burst after an outage. A call whose time-out ends that wait is never sent. On
 * isolates, the probe belongs to another request, so calls do not wait for it. For them, the breaker stays
 * open.
 */
export class RemotePipe implements Pipe {
  /** The store's name. */
  readonly name: string
  /** Tells the limiter from others in messages on the channel `headgate:store`. */
  readonly instance = {}
  readonly denialTimes: DenialTimes
  readonly #store: Store
  readonly #end: StoreEnd
  readonly #leases: Leases | undefined
  readonly #denials: DenialCache
  /** Tracks undecided requests, in front of the leases. Absent if there are none. */
  readonly #front: Pipe | undefined
  readonly #breakers: ServerBreakers
  readonly #deadlines: Deadlines
  readonly #timeoutMs: number
  readonly #isPublished: boolean
  readonly #closedListeners = new Set<() => void>()
  /** Identifies the limiter in each message on the channel. */
  readonly #origin: {
    readonly limiter: string | undefined
    readonly instance: object
    readonly store: string
  }

  constructor(store: Store, options: PipeOptions) {
    const { name } = store
    const { limiter, isPublished = true, timeoutMs, denyCacheMs, onChange, trackUndecided } = options
    const origin = { limiter, instance: this.instance, store: name }
    this.name = name
    this.#store = store
    this.#end = endAt(store)
    this.#leases = leasesOf(store)
    this.#denials = denialCacheOf(store)
    const { minMs, maxMs } = this.#leases?.denialTimes ?? { minMs: 0, maxMs: denyCacheMs }
    this.denialTimes = { minMs: Math.min(minMs, denyCacheMs), maxMs: Math.min(maxMs, denyCacheMs) }
    this.#deadlines = createDeadlines(timeoutMs)
    this.#timeoutMs = timeoutMs
    this.#isPublished = isPublished
    this.#origin = origin
    this.#breakers = serverBreakers(store, (...change) => {
      const [state, cause, server] = change
      const message = { type: 'state', ...origin, state, cause } as const
      if (isPublished) publishToStoreChannel(server === undefined ? message : { ...message, server })
      onChange?.(...change)
      if (state === 'closed') this.#callClosedListeners()
    })
    if (trackUndecided !== undefined) {
      const behindCache: Pipe = {
        send: sendFor(
          (operation, settle, onLate) =>
            this.#leases?.consume(operation) ??
            this.#call(new Call(this, undefined, operation, settle, onLate)),
        ),
      }
      this.#front = trackUndecided(behindCache, store)
    }
  }

  send<O extends Operation>(operation: O, settle: Settle<O>, onLate?: OnLate<O>): ImmediateOutcome<O> {
    const leased = this.#front === undefined ? this.#leases?.consume(operation) : undefined
    const known = leased ?? this.#denials.before(operation, this.denialTimes)
    if (known !== undefined) return known as ImmediateOutcome<O>
    const call = new Call(this, this.#denials, operation, settle as SettleAny, onLate as unknown as OnLate)
    const outcome = this.#front === undefined ? this.#call(call) : sendThrough(this.#front, call)
    if (outcome !== undefined) this.#denials.invalidate(operation)
    return outcome as ImmediateOutcome<O>
  }

  /**
   * Calls the store, unless a circuit breaker stops the call. Returns the outcome if it is known at once.
   */
  #call(call: Call): Outcome | undefined {
    const breaker = this.#breakers.only ?? this.#breakers.of(keysOf(call.operation))
    call.generation = breaker.admit()
    let outcome: Outcome | undefined
    if (call.generation !== undefined) outcome = this.#end.send(call)
    else if (breaker.state === 'half-open' && !isIsolate()) this.#callAfterProbe(call, breaker)
    else outcome = new CircuitOpenError(this.name, breaker)
    if (outcome === undefined) this.#deadlines.start(call, call.sentAtMs)
    else this.record(call, outcome)
    return outcome
  }

  /**
   * Sends another call in place of one, once the probe has succeeded. That call has all the time that the
   * store gets. The probe was sent first, so it also times out first.
   */
  async #callAfterProbe(call: Call, breaker: Admission): Promise<void> {
    await breaker.nextChange()
    if (call.isSettled) return
    const settle = (outcome: Outcome) => {
      if (call.isSettled && isTimeout(outcome)) return
      this.#deadlines.stop(call)
      call.settle(outcome)
    }
    if (breaker.state !== 'closed') {
      settle(new CircuitOpenError(this.name, breaker))
      return
    }
    call.isReplaced = true
    const outcome = this.#call(new Call(this, undefined, call.operation, settle, settle))
    if (outcome !== undefined) settle(outcome)
  }

  record(call: Call, outcome: Outcome): void {
    this.#deadlines.stop(call)
    const { generation } = call
    if (generation === undefined) return
    if (!(outcome instanceof Error)) generation.recordSuccess(outcome.type === 'charge' && !outcome.allowed)
    // A server that replied works, whatever it said.
    else if (atServer(outcome, generation.server).replied) generation.recordSuccess(true)
    else generation.recordFailure(outcome)
    if (this.#isPublished && storeChannel.hasSubscribers) this.#publishCall(call, outcome)
  }

  /** Tells that the store works, but too slowly. A failure that comes late tells nothing. */
  recordLate({ generation, operation, sentAtMs }: Call, outcome: Outcome): void {
    if (generation === undefined || !this.#isPublished || !storeChannel.hasSubscribers) return
    if (outcome instanceof Error && !atServer(outcome, generation.server).replied) return
    const durationMs = performance.now() - sentAtMs
    publishToStoreChannel({ type: 'late', ...this.#origin, operation: operation.type, durationMs })
  }

  #publishCall({ operation, sentAtMs }: Call, outcome: Outcome): void {
    publishToStoreChannel({
      type: 'call',
      ...this.#origin,
      operation: operation.type,
      durationMs: performance.now() - sentAtMs,
      ...(outcome instanceof StoreError && { error: outcome }),
    })
  }

  expire(call: Call): void {
    const outcome = timeoutOutcome(call, this.#store, this.#timeoutMs, this.#breakers)
    if (outcome === undefined) this.#deadlines.start(call)
    else call.settle(outcome)
  }

  /** Calls back once when the circuit breaker of a server closes. */
  onceClosed(listener: () => void): void {
    this.#closedListeners.add(listener)
  }

  #callClosedListeners(): void {
    const listeners = [...this.#closedListeners]
    this.#closedListeners.clear()
    for (const listener of listeners) listener()
  }

  /** The worst state of the circuit breakers of the store's servers, or of those that keep `keys`. */
  state(keys?: readonly KeyedPolicy[]): BreakerState {
    return keys === undefined ? this.#breakers.state : this.#breakers.of(keys).state
  }

  /** Returns `key`, and one more key for each other server whose circuit breaker is not closed. */
  probeKeys(key: string): readonly string[] {
    return this.#breakers.probeKeys(key)
  }

  /** Returns `pipe`, which leads here, with refunds that outlast an outage of the store. */
  resendRefunds(pipe: Pipe, onLost: (error: StoreError) => void): RefundingPipe {
    return resendRefunds(pipe, this, onLost)
  }

  /** Waits for pending calls, then closes the store, each within the time-out. */
  async close(): Promise<void> {
    await this.#deadlines.idle()
    try {
      await timeout(this.#timeoutMs)(Promise.resolve(this.#store.close?.()))
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error
    } finally {
      publishToStoreChannel({ type: 'close', ...this.#origin })
    }
  }
}

/** Sends the operation of a call through the pipe in front, which makes its own calls to the store. */
function sendThrough(front: Pipe, call: Call): Outcome | undefined {
  const settle = (outcome: Outcome) => call.settle(outcome)
  return front.send(call.operation, settle, settle)
}
