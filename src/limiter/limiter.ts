import type { Emitter } from '../util/emitter.js'
import type { Mode } from './access-rules.js'
import type { Adjustments } from './adjustments.js'
import type { CandidateReport } from './candidate/candidate-report.js'
import type { Decision } from './decision.js'
import type { LimiterDescription } from './description.js'
import type { LimiterEvents } from './events.js'
import type { Health } from './health.js'
import type { WaitOptions } from './waiting/wait-options.js'

/**
 * The limiter of a middleware, in its property `limiter`. To wait for it, call the function `waitFor`. To
 * refund, forget or otherwise change what it has counted, call the function `adjustments`.
 */
export interface MiddlewareLimiter<Subject> {
  /**
   * Charges a subject with all limits at once, all or nothing. `cost` replaces the limits' own cost. In
   * memory, the units are taken before it returns, unless an option function is async.
   *
   * Rejects with what an option function threw, and with a `TypeError` for a wrong cost, but never for a
   * denial.
   *
   * `skip`, `allow`, `block` and `mode` apply as they do in the middleware. In report mode the decision is
   * always allowed, and its `parts` say which limits would have denied.
   *
   * A limit, `allow` or `block` may need the IP address of a request whose connection is already gone. Then
   * the request is denied without a charge, with `source: 'fail-closed'`, because no client would read the
   * response.
   */
  charge(subject: Subject, options?: { cost?: number }): Promise<Decision>
  /**
   * Returns the current figures without taking anything. A cost of 0 is always allowed. `remaining` is what
   * is left, and `moreAfterMs` is when there will be more.
   */
  peek(subject: Subject): Promise<Decision>
  /**
   * Releases the units that a decision holds of concurrency limits, once. Call it when the work is done,
   * whatever the outcome, because headgate renews the units until then. Middleware calls it when the
   * response is over.
   *
   * It never fails because of the store, so that a `finally` keeps the outcome of the work. If the store
   * could not be called, the units are released later. If it failed, the limiter emits `refundFailed`, and
   * the units are free after their `ttl`.
   */
  release(decision: Decision): Promise<void>
  /**
   * Returns what the limits of `candidate` would have done since this process created the limiter, or
   * `undefined` without a candidate.
   */
  candidateReport(): CandidateReport | undefined
  /**
   * Returns the rules in force in this process, and the origin of each: the code, or the document of
   * `settings`.
   */
  describe(): LimiterDescription
  /** Calls the store without taking anything, for readiness probes. Never rejects. */
  health(): Promise<Health>
  /**
   * Releases what concurrency limits hold, waits for pending calls, and closes what the store opened, not
   * your client. Each step takes `timeout` at most. Calls of `waitFor` resolve with a denial at once.
   */
  close(): Promise<void>
  /**
   * Whether the limiter enforces its limits or only reports denials, as in the option `mode`. You may set it
   * at any time, and it applies from the next charge on. Throws a `TypeError` for another value. If the
   * document of `settings` has a mode, that mode applies instead.
   */
  mode: Mode
  readonly events: Emitter<LimiterEvents<Subject>>
  /** The name of the limiter, from the option `name`. */
  readonly name: string | undefined
}

/** A rate limiter without HTTP, which `createLimiter` returns. */
export interface Limiter<Subject> extends MiddlewareLimiter<Subject>, Adjustments<Subject> {
  /**
   * Waits until the charge is allowed, and then charges the subject as `charge` does. Resolves with the
   * allowed decision, or with a denied one in these cases:
   *
   * - The charge can no longer be allowed within `maxWait`.
   * - There is no place left to wait. There are 10,000 places, and no client gets more than are left.
   * - The limiter is closed.
   *
   * If `signal` aborts, refunds any units that the charge took in the meantime, and rejects with the
   * signal's reason. The signal also ends the wait for async option functions. `maxWait` ends that wait only
   * once the charge waits for its turn.
   *
   * Within this process, charges that wait for the same key are served in order of arrival. Other processes,
   * and `charge`, may take units first.
   *
   * A charge of several limits waits for one of them at a time, and later charges may pass it at the others.
   * Once it has waited for a limit, it holds its units there while it waits for the next one, unless the
   * limit would restore them sooner. So charges of one limit cannot starve it, and it costs them at most one
   * charge. It holds nothing while it waits for a `concurrency` limit.
   *
   * While a limit is exhausted, only the first charge in the queue calls the store. It retries when units
   * are back, or at once after a refund or `forget` of this limiter. Waiting never leads to a ban. If the
   * store fails, `onStoreError` decides.
   *
   * Each attempt reads key, cost, policy and access rules anew, so option functions may be called several
   * times. The first charge in a queue also retries when a charge with another policy arrives for its key.
   * All charges retry when `settings` or `mode` change. In report mode, no charge waits.
   */
  waitFor(subject: Subject, options?: WaitOptions): Promise<Decision>
}

/** A limiter for subjects of any type. Its listeners take any subject. */
export interface AnyLimiter extends Omit<MiddlewareLimiter<never>, 'events'> {
  readonly events: Emitter<LimiterEvents<unknown>>
}
