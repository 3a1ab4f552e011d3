import type { EventEmitter } from 'node:events'
import type { Decision } from '../limiter/decision.js'
import type { LimiterEvents } from '../limiter/events.js'
import type { Mode } from '../limiter/mode.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { Adjustments } from './adjustments.js'
import type { CandidateReport } from './candidate/candidate-report.js'
import type { Health } from './health.js'
import type { WaitOptions } from './waiting/wait-options.js'

/** A rate limiter without HTTP: for WebSockets, queues, GraphQL, and inside the middleware. */
export interface Limiter<Subject> extends Adjustments<Subject> {
  /**
   * Charges a subject with all limits at once, all or nothing. `cost` replaces the limits' own cost. Returns
   * the decision itself when the store and the option functions are synchronous, else a promise
   * of it. Throws or rejects with what such a function threw, and with `TypeError` for a wrong cost; never
   * for a denial.
   *
   * `skip`, `allow`, `block` and `mode` apply as they do in the middleware. In report mode the decision is
   * always allowed, and its `parts` say which limits would have denied.
   *
   * If a limit, `allow` or `block` needs the address of a request whose connection is already gone, the
   * request is denied without a charge, with `source: 'closed'`, because no client would read the response.
   */
  charge(subject: Subject, options?: { cost?: number }): MaybePromise<Decision>
  /**
   * Charges a subject as `charge` does, once that is allowed. Resolves with the allowed decision; or with a
   * denied one as soon as the charge can no longer be allowed within `maxWaitMs`, when there is no place to
   * wait (of 10,000, a client gets no more than are left), or when the limiter is closed. Rejects with the
   * reason of `signal` when that aborts: what a charge took in the meantime is refunded first. Async
   * option functions come before the wait: `signal` ends the wait for them, and `maxWaitMs` does
   * not.
   *
   * Those who wait for the same key are served in the order in which they came. That holds within this
   * process: other processes, and `charge`, may take units first. While a limit is exhausted, only the first
   * of them calls the store. A refund and `forget` of this limiter let it try again at once. Waiting counts
   * for no ban. Where the store fails, the decision is that of `onStoreError`. In report mode nobody waits,
   * and those who do stop when `mode` becomes `'report'`.
   */
  waitFor(subject: Subject, options?: WaitOptions): Promise<Decision>
  /**
   * Returns the figures as they stand, without taking anything. A charge of nothing is always allowed: see
   * in `remaining` what is left, and in `moreAfterMs` when there is more.
   */
  peek(subject: Subject): MaybePromise<Decision>
  /**
   * Releases what a decision holds of concurrency limits, once. Call it when the work is done, whatever the
   * outcome: until then headgate renews the units. Middleware calls it when the response is over. Throws or
   * rejects with `StoreError` when the store failed; the units are then free after their `ttl`. If the store
   * could not be called, they are released later.
   */
  release(decision: Decision): MaybePromise<void>
  /**
   * Returns what the limits of `candidate` would have done since this process created the limiter;
   * `undefined` if there are none.
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
