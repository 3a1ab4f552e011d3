import type { EventEmitter } from 'node:events'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { ByHand } from './by-hand.js'
import type { CandidateReport } from './candidate-report.js'
import type { Decision } from './decision.js'
import type { LimiterEvents } from './events.js'
import type { Health } from './health.js'
import type { Mode } from './mode.js'
import type { WaitOptions } from './wait-options.js'

/** A rate limiter without HTTP: for WebSockets, queues, GraphQL, and inside the middleware. */
export interface Limiter<Subject> extends ByHand<Subject> {
  /**
   * Charges a subject with all limits at once, all or nothing. `cost` replaces the limits' own cost. Returns
   * the decision itself when the store and the functions among the options are synchronous, else a promise
   * of it. Throws or rejects with what such a function threw, and with `TypeError` for a wrong cost; never
   * for a denial.
   *
   * If a limit needs the address of a request whose connection is already gone, the request is denied
   * without a charge, with `source: 'closed'`. Nobody would read the response.
   */
  charge(subject: Subject, options?: { cost?: number }): MaybePromise<Decision>
  /**
   * Charges a subject as `charge` does, once that is allowed. Resolves with the allowed decision; or with a
   * denied one as soon as the charge can no longer be allowed within `maxWaitMs`, when there is no place to
   * wait (of 10,000, a client gets no more than are left), or when the limiter is closed. Rejects with the
   * reason of `signal` when that aborts: what a charge took in the meantime is refunded first. Async functions among the options come before the wait: `signal` ends the
   * wait for them, and `maxWaitMs` does not.
   *
   * Those who wait for the same key are served in the order in which they came. That holds within this
   * process: other processes, and `charge`, may take units first. While a limit is exhausted, only the first
   * of them calls the store. A refund and `forget` of this limiter let it try again at once. Waiting counts
   * for no ban. Where the store fails, the decision is that of `onStoreError`. In report mode nobody waits,
   * and those who do stop when `mode` becomes `'report'`.
   */
  waitFor(subject: Subject, options?: WaitOptions): Promise<Decision>
  /**
   * Returns the figures as they stand, without taking anything. A charge of nothing is always allowed: see in
   * `remaining` what is left, and in `moreAfterMs` when there is more.
   */
  peek(subject: Subject): MaybePromise<Decision>
  /**
   * Refunds what a decision took, once; a copy of the decision has no effect. With `limits`, only what the
   * limits of these names took: the rest stays taken. Throws a `TypeError` for a name of no limit. Throws or
   * rejects with `StoreError` when the store failed; the units may be back then, and cannot be refunded
   * again. If the store could not be called, they are refunded later. What a concurrency limit holds stays
   * held: `release` it.
   */
  refund(decision: Decision, options?: { limits?: readonly string[] }): MaybePromise<void>
  /**
   * Releases what a decision holds of concurrency limits, once. Call it when the work is done, whatever the
   * outcome: until then headgate renews the units. Middleware calls it when the response is over. Throws or
   * rejects with `StoreError` when the store failed; the units are then free after their `ttl`. If the store
   * could not be called, they are released later.
   */
  release(decision: Decision): MaybePromise<void>
  /**
   * Forgets all that this subject's keys have used, except for limits whose key is `undefined` for it. The
   * subject may be any object that has what the key functions read, such as `{ body: { username: 'ada' } }`
   * for `byField('username')`; or a decision, for the keys that were charged. With `limits`, only the limits
   * of these names forget, and only their keys are read; a name of no limit is a `TypeError`. Throws or
   * rejects where a key needs the address of a request whose connection is closed: give the decision then.
   */
  forget(
    subject: Subject | Record<string, unknown> | Decision,
    options?: { limits?: readonly string[] },
  ): MaybePromise<void>
  /**
   * Returns what the limits of `candidate` would have done since this process created the limiter;
   * `undefined` where there are none.
   */
  candidateReport(): CandidateReport | undefined
  /** Calls the store without taking anything, for readiness probes. Never rejects. */
  health(): Promise<Health>
  /**
   * Releases what concurrency limits hold, waits for pending calls, and closes what the store opened, not
   * your client. Each step takes `timeoutMs` at most. Calls of `waitFor` resolve with a denial at once.
   */
  close(): Promise<void>
  /**
   * `'enforce'` or `'report'`, from the option `mode`. May be set at any time, and is valid from the next
   * charge on. Throws a `TypeError` for another value.
   */
  mode: Mode
  readonly events: EventEmitter<LimiterEvents<Subject>>
  /** The option `name`. */
  readonly name: string | undefined
}
