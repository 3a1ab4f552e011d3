import {
  type Charge,
  givesUnitsBack,
  type KeyedPolicy,
  keysOf,
  type Refund,
  type RefundResult,
} from '../stores/operation.js'
import { REFUNDED } from '../stores/shared/apply-batch.js'
import { type Pipe, request } from '../stores/shared/pipe.js'
import { isUnsent, StoreError } from '../stores/store-error.js'
import { inBackground } from '../util/background-timer.js'
import type { GuardedStore } from './guarded-store.js'

/** The most refunds that wait for the store. Beyond that the oldest is lost. */
const MAX_KEPT = 10_000
/** How often refunds are retried. */
const RETRY_MS = 250
/** The most refunds that are retried together. */
const RETRY_BATCH = 100
/** Units of a concurrency policy expire at most one slice after their ttl. */
const LONGEST_TTLS = 9 / 8

/** A refund that was not sent. */
interface Kept {
  readonly refund: Refund
  /** When it no longer matters, by `performance.now()`. */
  readonly endMs: number
  /** Why it was not sent; `undefined` if the circuit breaker was not closed. */
  readonly error: StoreError | undefined
}

/** A pipe whose refunds outlast an outage. */
export interface RefundingPipe extends Pipe {
  /** Tries once more to send what is kept. The rest is lost. */
  close(): Promise<void>
}

/**
 * Creates a pipe whose refunds outlast an outage of `store`. A refund that certainly never reached the store
 * (its circuit breaker is not closed, or the client is not connected) counts as done, and is sent once the
 * store can be called, until its units expire. A refund whose outcome is unknown is never repeated.
 *
 * A peek precedes each kept refund: unlike a refund, it is safe to repeat, so it can probe whether the store
 * is back.
 */
export function resendRefunds(
  pipe: Pipe,
  store: Pick<GuardedStore, 'name' | 'state' | 'send'>,
  onLost: (error: StoreError) => void,
): RefundingPipe {
  const kept: Kept[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let retrying = Promise.resolve()
  let isClosed = false

  const sendRefund: Pipe['send'] = (operation, settle, onLate) => {
    const refund = operation as unknown as Refund
    if (store.state([refund]) !== 'closed' && !isClosed) return keep(refund) as never
    const keepIfUnsent = <T>(outcome: T) =>
      outcome instanceof StoreError && isUnsent(outcome) && !isClosed
        ? (keep(refund, outcome) as never)
        : outcome
    const outcome = pipe.send(operation, (later) => settle(keepIfUnsent(later)), onLate)
    return outcome && keepIfUnsent(outcome)
  }

  function keep(refund: Refund, error?: StoreError): RefundResult {
    kept.push({ refund, error, endMs: performance.now() + usefulMs(refund) })
    loseOldest()
    schedule()
    return REFUNDED
  }

  function loseOldest(): void {
    for (const each of kept.splice(0, Math.max(0, kept.length - MAX_KEPT))) lose(each)
  }

  function lose({ error: cause }: Kept): void {
    onLost(
      new StoreError(store.name, 'a refund was never sent, since the store could not be called', { cause }),
    )
  }

  function schedule(): void {
    if (timer !== undefined || isClosed || kept.length === 0) return
    timer = inBackground(
      setTimeout(() => {
        retrying = retry()
      }, RETRY_MS),
    )
  }

  /**
   * Sends the kept refunds. After one fails, sends only those whose servers can be called, so that a server
   * that is down does not block refunds to the others. Keeps the rest.
   */
  async function retry(): Promise<void> {
    const due = kept.splice(0)
    const unsent: Kept[] = []
    let isReachable = true
    for (let i = 0; i < due.length; i += RETRY_BATCH) {
      const alive = due.slice(i, i + RETRY_BATCH).filter(({ endMs }) => performance.now() < endMs)
      const isCallable = ({ refund }: Kept) => isReachable || store.state([refund]) === 'closed'
      const waiting = alive.filter((each) => !isCallable(each))
      const failed = (await Promise.all(alive.filter(isCallable).map(sendAgain))).filter(isKept)
      unsent.push(...waiting, ...failed)
      isReachable &&= failed.length === 0
    }
    kept.unshift(...unsent) // they are older than those kept meanwhile
    loseOldest()
    timer = undefined
    schedule()
  }

  /** Returns what still could not be sent. */
  async function sendAgain(each: Kept): Promise<Kept | undefined> {
    try {
      await request<Charge>(store, { type: 'charge', parts: [{ ...each.refund, cost: 0 }] })
    } catch {
      return each
    }
    try {
      await request(pipe, each.refund)
      return undefined
    } catch (error) {
      if (isUnsent(error)) return each
      onLost(error as StoreError)
      return undefined
    }
  }

  return {
    send(operation, settle, onLate) {
      const send = operation.type === 'refund' ? sendRefund : pipe.send
      return send(operation, settle, onLate)
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await retrying
      await retry()
      for (const each of kept.splice(0)) lose(each)
    },
  }
}

function isKept(each: Kept | undefined): each is Kept {
  return each !== undefined
}

/** Returns the longest time for which a refund can still matter. */
function usefulMs({ policy, takenAtMs, resetAtMs = Number.POSITIVE_INFINITY }: Refund): number {
  return policy.ttlMs !== undefined ? policy.ttlMs * LONGEST_TTLS : resetAtMs - takenAtMs
}

/** Creates a pipe that reports the keys of an operation once it has given units back. */
export function reportReturns(pipe: Pipe, onReturned: (keys: readonly KeyedPolicy[]) => void): Pipe {
  return {
    send(operation, settle, onLate) {
      if (!givesUnitsBack(operation)) return pipe.send(operation, settle, onLate)
      const report = (outcome: unknown) => {
        if (!(outcome instanceof Error)) onReturned(keysOf(operation))
      }
      const outcome = pipe.send(
        operation,
        (later) => {
          report(later)
          settle(later)
        },
        (late, sent) => {
          report(late)
          onLate?.(late, sent)
        },
      )
      if (outcome !== undefined) report(outcome)
      return outcome
    },
  }
}
