import type { Count } from '../../http/after-response.js'
import type { OnDenied, RequestOptions } from '../../http/options.js'
import type { Decision } from '../../limiter/decision.js'
import type { LimitWithWindow } from '../../limiter/options.js'
import type { MaybePromise } from '../../util/maybe-promise.js'

/** What a platform knows about a request. Extend it by what your own callbacks read. */
export interface FetchInfo {
  /**
   * The address that the request came from, as the platform reports it. `byIp({ trustProxy })` uses it as
   * the peer's address. Requests without an address share the identity `unknown`; headgate then emits the
   * process warning `HEADGATE_NO_ADDRESS` once.
   */
  readonly ip?: string | null | undefined
  /** The authenticated user, for `byUser()`. */
  readonly user?: unknown
  /** The parsed body, for `byField()`. */
  readonly body?: unknown
  /** The pattern of the route, such as `/users/:id`, for `byRoute()`. */
  readonly route?: string | null | undefined
  /** Keeps the process alive while a refund is in progress, such as `ctx.waitUntil` of Workers. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** The keys read these from the request. */
  readonly method?: never
  readonly url?: never
  readonly headers?: never
  readonly socket?: never
  readonly baseUrl?: never
}

/** What callbacks among the options are called with: what was passed as `info`, plus the request. */
export type FetchSubject<Info = FetchInfo> = Info & {
  readonly request: Request
  /** The decision of the last limiter that charged the request. */
  readonly rateLimit?: Decision
}

/**
 * The options of `rateLimit`. All functions may be async. If one throws, the promise of the limiter rejects
 * with that error; what a `count` function throws is emitted as `refundFailed`.
 */
export type RateLimitOptions<Info = FetchInfo> = FetchRequestOptions<FetchSubject<Info>> & LimitWithWindow

/** Each option of `rateLimit`. */
export interface FetchRequestOptions<Subject>
  extends Omit<RequestOptions<Subject, Response>, 'skip' | 'count'> {
  /** Requests for which it returns true pass unlimited and uncounted. */
  skip?: (subject: Subject) => MaybePromise<boolean>
  /**
   * Which requests count: `'failed'` (status 400 and up), `'successful'`, or those for which a function of
   * the response returns true. Each request is charged before its handler runs; `finish` refunds those that
   * do not count. A request that was aborted by then stays charged. Default `'all'`.
   */
  count?: Count<Subject, Response>
  /**
   * Returns the response to a denied request. headgate adds quota headers and `Retry-After` if it has none.
   * Default: text or problem+json, as `Accept` says.
   */
  onDenied?: OnDenied<[subject: Subject], MaybePromise<Response>>
}
