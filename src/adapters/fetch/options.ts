import type { Decision } from '../../limiter/decision.js'
import type { FrameworkTypes } from '../../util/framework-types.js'
import type { MaybePromise } from '../../util/maybe-promise.js'

/** What a platform knows about a request. Extend it with what your callbacks read. */
export interface FetchInfo {
  /**
   * The IP address that the request came from, as the platform reports it. `byIp({ trustProxy })` uses it as
   * the peer's address. Requests without an address share the identity `unknown`. headgate then emits the
   * process warning `HEADGATE_NO_ADDRESS` once.
   */
  readonly ip?: string | null | undefined
  /** The authenticated user, for `byUser()`. */
  readonly user?: unknown
  /** The parsed body, for `byField()`. */
  readonly body?: unknown
  /** The pattern of the route, such as `/users/:id`, for `byRoute()`. */
  readonly route?: string | null | undefined
  /**
   * Keeps a request alive while a refund or a release is in progress, such as `ctx.waitUntil` in Workers.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Must be absent, like the next four. Keys read them from the request. */
  readonly method?: never
  readonly url?: never
  readonly headers?: never
  readonly socket?: never
  readonly baseUrl?: never
}

/** What callbacks among the options are called with: the `info` that you passed, and the request. */
export type FetchSubject<Info = FetchInfo> = Info & {
  readonly request: Request
  /** The decision of the last limiter that charged the request. */
  readonly rateLimit?: Decision
}

/** The types of servers of the Fetch standard. Their handlers return the response. */
export interface FetchTypes<Subject = FetchSubject> extends FrameworkTypes {
  readonly request: Subject
  readonly response: Response
  readonly requestTest: (subject: Subject) => MaybePromise<boolean>
  readonly handlerArgs: readonly [subject: Subject]
  readonly handlerResult: MaybePromise<Response>
}
