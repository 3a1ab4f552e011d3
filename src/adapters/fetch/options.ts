import type { RequestOptions } from '../../http/options.js'
import type { Count } from '../../http/refund-uncounted.js'
import type { Decision } from '../../limiter/decision.js'
import type { MaybePromise } from '../../util/maybe-promise.js'

/** What a platform knows of a request, beside the `Request` itself. Add what your own callbacks read. */
export interface FetchInfo {
  /**
   * The address that the request came from, as the platform reports it; `byIp({ trustProxy })` takes it for
   * the peer's. Requests without one share the identity `unknown`, which a process warning reports once
   * (`HEADGATE_NO_ADDRESS`).
   */
  readonly ip?: string | null | undefined
  /** The authenticated user, for `byUser()`. */
  readonly user?: unknown
  /** The parsed body, for `byField()`. */
  readonly body?: unknown
  /** The pattern of the route, such as `/users/:id`, for `byRoute()`. */
  readonly route?: string | null | undefined
  /** Keeps the platform from ending while a refund is under way: `ctx.waitUntil` of Workers, for one. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** The keys read these from the request. */
  readonly method?: never
  readonly headers?: never
  readonly socket?: never
  readonly baseUrl?: never
}

/** What the callbacks among the options are called with: the request, and what the platform knows of it. */
export type FetchSubject<Info = FetchInfo> = Info & {
  readonly request: Request
  /** The decision of the last limiter that the request passed. */
  readonly rateLimit?: Decision
}

/**
 * The options of `rateLimit`. All functions may be async. What they throw rejects the promise of the
 * limiter; what a `count` function throws is emitted as `refundFailed`.
 */
export interface RateLimitOptions<Info = FetchInfo>
  extends Omit<RequestOptions<FetchSubject<Info>, Response>, 'skip' | 'count'> {
  /** Requests for which it returns true pass unlimited and uncounted. */
  skip?: (subject: FetchSubject<Info>) => MaybePromise<boolean>
  /**
   * Which requests count. `'failed'` and `'successful'` charge a request before its handler runs, and refund
   * it once `finish` has a response with the other outcome (failed = status 400 and up); a function decides
   * by the response. A request that was aborted by then stays charged. Default `'all'`.
   */
  count?: Count<FetchSubject<Info>, Response>
  /**
   * Returns the response to a limited request; quota headers and `Retry-After` are added where it has none.
   * Default: text or problem+json, as `Accept` says.
   */
  onLimited?: (subject: FetchSubject<Info>, decision: Decision) => MaybePromise<Response>
}
