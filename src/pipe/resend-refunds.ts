import { isIsolate } from '../platform.js'
import type { Charge, KeyedPolicy, Operation, Outcome, Refund, RefundResult } from '../stores/operation.js'
import { REFUNDED } from '../stores/shared/apply-batch.js'
import { isUnsent, StoreError } from '../stores/store-error.js'
import { inBackground } from '../util/background-timer.js'
import type { BreakerState } from './breaker-state.js'
import { type OnLate, type Pipe, type RefundingPipe, request, type SettleAny, sendFor } from './pipe.js'

/** The most refunds that wait for the store. Beyond that, the oldest is lost. */
const MAX_QUEUED = 10_000
/** How often refunds are retried. */
const RETRY_MS = 250
/** The most refunds that are retried together. */
const RETRY_BATCH = 100
/** On isolates, the most refunds that a request retries for others, because platforms limit its calls. */
const MAX_PER_REQUEST = 10
/** Units of `concurrency` last for their ttl and at most one slice more, which is an eighth of the ttl. */
const MAX_LIFETIME_IN_TTLS = 9 / 8

/** A refund that was not sent. */
interface UnsentRefund {
  readonly refund: Refund
  /** When its units expire, by `performance.now()`. After that, the refund no longer matters. */
  readonly expiresAtMs: number
  /** Why it was not sent; `undefined` if the circuit breaker was not closed. */
  readonly error: StoreError | undefined
}

/** What resending has to know of the pipe to the store. */
interface ResendingPipe extends Pipe {
  readonly name: string
  state(keys?: readonly KeyedPolicy[]): BreakerState
  /** Calls back once when the circuit breaker of a server closes. */
  onceClosed?(listener: () => void): void
}

/**
 * Creates a pipe whose refunds outlast an outage of `store`. A refund that certainly never reached the store
 * (its circuit breaker is not closed, or the client is not connected) counts as done. It is queued, and sent
 * once the store can be called, unless its units expire first. A refund whose outcome is unknown is never
 * repeated.
 *
 * Before each queued refund, a peek probes whether the store is back. Unlike a refund, a peek is safe to
 * repeat.
 *
 * On isolates, a timer ends with its request. So other requests retry: the next one that refunds, and the
 * one whose call closes the circuit breaker.
 */
export function resendRefunds(
  pipe: Pipe,
  store: ResendingPipe,
  onLost: (error: StoreError) => void,
): RefundingPipe {
  const queue: UnsentRefund[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let retrying = Promise.resolve()
  let isClosed = false

  function send(operation: Operation, settle: SettleAny, onLate?: OnLate): Outcome | undefined {
    if (operation.type !== 'refund' || isClosed) return pipe.send(operation, settle, onLate)
    if (queue.length > 0 && isIsolate() && store.state() === 'closed') retry()
    if (store.state([operation]) !== 'closed') return enqueue(operation)
    const outcome = pipe.send(operation, (later) => settle(enqueueIfUnsent(operation, later)), onLate)
    return outcome && enqueueIfUnsent(operation, outcome)
  }

  /** Queues a refund that was certainly never sent. Returns what became of it. */
  function enqueueIfUnsent(refund: Refund, outcome: Outcome): Outcome {
    return isUnsent(outcome) && !isClosed ? enqueue(refund, outcome) : outcome
  }

  function enqueue(refund: Refund, error?: StoreError): RefundResult {
    queue.push({ refund, error, expiresAtMs: performance.now() + maxLifetimeMs(refund) })
    dropOldest()
    schedule()
    return REFUNDED
  }

  function dropOldest(): void {
    for (const each of queue.splice(0, Math.max(0, queue.length - MAX_QUEUED))) reportLost(each)
  }

  function reportLost({ error: cause }: UnsentRefund): void {
    onLost(
      new StoreError(store.name, 'a refund was never sent, since the store could not be called', { cause }),
    )
  }

  function schedule(): void {
    if (isClosed || queue.length === 0) return
    if (isIsolate()) store.onceClosed?.(retry)
    else if (timer === undefined) startTimer()
  }

  function retry(): void {
    retrying = retryQueue()
  }

  function startTimer(): void {
    timer = inBackground(setTimeout(retry, RETRY_MS))
  }

  /**
   * Sends the queued refunds. After one fails, sends only those whose servers can be called, so that a
   * server that is down does not block refunds to the others. The rest stay queued.
   */
  async function retryQueue(): Promise<void> {
    const due = queue.splice(0, isIsolate() ? MAX_PER_REQUEST : queue.length)
    const unsent: UnsentRefund[] = []
    let isReachable = true
    for (let i = 0; i < due.length; i += RETRY_BATCH) {
      const alive = due.slice(i, i + RETRY_BATCH).filter(({ expiresAtMs }) => performance.now() < expiresAtMs)
      const isCallable = ({ refund }: UnsentRefund) => isReachable || store.state([refund]) === 'closed'
      const waiting = alive.filter((each) => !isCallable(each))
      const failed = (await Promise.all(alive.filter(isCallable).map(retryRefund))).filter(isUnsentRefund)
      unsent.push(...waiting, ...failed)
      isReachable &&= failed.length === 0
    }
    queue.unshift(...unsent) // they are older than those queued meanwhile
    dropOldest()
    timer = undefined
    schedule()
  }

  /** Returns the refund if it still could not be sent. */
  async function retryRefund(unsent: UnsentRefund): Promise<UnsentRefund | undefined> {
    try {
      await request<Charge>(store, { type: 'charge', parts: [{ ...unsent.refund, cost: 0 }] })
    } catch {
      return unsent
    }
    try {
      await request(pipe, unsent.refund)
      return undefined
    } catch (error) {
      if (isUnsent(error)) return unsent
      onLost(error as StoreError)
      return undefined
    }
  }

  return {
    send: sendFor(send),
    async close() {
      isClosed = true
      clearTimeout(timer)
      await retrying
      await retryQueue()
      for (const each of queue.splice(0)) reportLost(each)
    },
  }
}

function isUnsentRefund(value: UnsentRefund | undefined): value is UnsentRefund {
  return value !== undefined
}

/** Returns the longest time that the units of a refund may last. */
function maxLifetimeMs({ policy, takenAtMs, resetAtMs = Number.POSITIVE_INFINITY }: Refund): number {
  return policy.ttlMs !== undefined ? policy.ttlMs * MAX_LIFETIME_IN_TTLS : resetAtMs - takenAtMs
}
