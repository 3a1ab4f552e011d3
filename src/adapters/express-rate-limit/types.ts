import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Store as HeadgateStore } from '../../stores/store.js'
import type { MaybePromise } from '../../util/maybe-promise.js'

/** How often a client has hit, and when its window ends. */
export type ClientRateLimitInfo = {
  totalHits: number
  /** `undefined` if the store does not know. */
  resetTime: Date | undefined
}

/** What `increment` returns. */
export type IncrementResponse = ClientRateLimitInfo

/** A count whose store knows when its window ends. */
export type Client = ClientRateLimitInfo & { resetTime: Date }

/** A store of express-rate-limit: counts the hits of each key in a window of `options.windowMs`. */
export type Store = {
  /** Called once, when the middleware is created. What it throws or rejects with is logged. */
  init?: (options: Options) => MaybePromise<void>
  /** Returns the count of a key; `undefined` if it has none. */
  get?: (key: string) => MaybePromise<ClientRateLimitInfo | undefined>
  /** Counts a hit and returns the count with it. */
  increment: (key: string) => MaybePromise<IncrementResponse>
  /** Refunds one hit. */
  decrement: (key: string) => MaybePromise<void>
  /** Forgets a key. */
  resetKey: (key: string) => MaybePromise<void>
  /** Forgets all keys. */
  resetAll?: () => MaybePromise<void>
  /** Releases what the store opened. */
  shutdown?: () => MaybePromise<void>
  /** Whether the counts of this object are its own. */
  localKeys?: boolean
  /** What the store puts before each key. Counting a key twice is no mistake under two prefixes. */
  prefix?: string
}

/** What a store with callbacks calls with the count. */
export type IncrementCallback = (
  error: Error | undefined,
  totalHits: number,
  resetTime: Date | undefined,
) => void

/** A store with callbacks, from before version 6 of express-rate-limit. */
export type LegacyStore = {
  incr: (key: string, callback: IncrementCallback) => void
  decrement: (key: string) => void
  resetKey: (key: string) => void
  resetAll?: () => void
}

/** The drafts of the IETF's `RateLimit` headers that `standardHeaders` knows. */
export type DraftHeadersVersion = 'draft-6' | 'draft-7' | 'draft-8'

/** The checks for common mistakes, by the names that express-rate-limit gives them. @inline */
export type CheckName =
  | 'ip'
  | 'trustProxy'
  | 'xForwardedForHeader'
  | 'forwardedHeader'
  | 'positiveHits'
  | 'unsharedStore'
  | 'singleCount'
  | 'limit'
  | 'draftPolliHeaders'
  | 'onLimitReached'
  | 'headersDraftVersion'
  | 'headersResetTime'
  | 'knownOptions'
  | 'validationsConfig'
  | 'creationStack'
  | 'ipv6Subnet'
  | 'ipv6SubnetOrKeyGenerator'
  | 'keyGeneratorIpFallback'
  | 'windowMs'

/** Logs an error, with a sentence about where it happened if the error does not say so itself. */
export type LoggerFn = (error: unknown, message?: string) => void

/** Where errors and warnings go. Pino's and winston's loggers fit. */
export type Logger = { error: LoggerFn; warn: LoggerFn }

/** Returns a value for a request, or a promise of it. */
export type ValueDeterminingMiddleware<T> = (request: Request, response: Response) => MaybePromise<T>

/** Responds to a request that is over its limit. */
export type RateLimitExceededEventHandler = (
  request: Request,
  response: Response,
  next: NextFunction,
  optionsUsed: Options,
) => void

/** The type of `onLimitReached`, an option that was removed. */
export type RateLimitReachedEventHandler = (
  request: Request,
  response: Response,
  optionsUsed: Options,
) => void

/** Which checks run; `default` is for those that are not named. */
export type EnabledValidations = { [Name in CheckName | 'default']?: boolean }

/** What a request carries of its limit, as `req.rateLimit` by default. */
export type RateLimitInfo = {
  limit: number
  /** The hits in this window, this one included; those over the limit also count. */
  used: number
  remaining: number
  /** When the window ends; `undefined` if the store does not know. */
  resetTime: Date | undefined
  key: string
}

/**
 * A request that has passed a limiter: `(req as AugmentedRequest).rateLimit`. The entry `headgate` declares
 * another type of `req.rateLimit` for its own limiters, which this one leaves out.
 */
export type AugmentedRequest = Omit<Request, 'rateLimit'> & { [property: string]: RateLimitInfo }

/** The middleware, with what it takes from its store. */
export type RateLimitRequestHandler = RequestHandler & {
  /** Forgets a client. */
  resetKey: (key: string) => void
  /** Returns a client's count; throws if the store has no `get`. */
  getKey: (key: string) => MaybePromise<ClientRateLimitInfo | undefined>
}

/** The options of version 8 of express-rate-limit, with their meaning. */
export type Options = {
  /** The length of the window in milliseconds, from a client's first request. Default 60,000. */
  windowMs: number
  /** The most hits of a client in a window, or a function that returns it for a request. Default 5. */
  limit: number | ValueDeterminingMiddleware<number>
  /** An older name of `limit`. */
  max?: number | ValueDeterminingMiddleware<number>
  /** What a denied request is sent by `res.send`, or a function that returns it. Default: a sentence. */
  // biome-ignore lint/suspicious/noExplicitAny: what express-rate-limit has, so that its users' code compiles.
  message: any | ValueDeterminingMiddleware<any>
  /** The status of a denied request. Default 429. */
  statusCode: number
  /** Whether to send `X-RateLimit-*` headers. Default true. */
  legacyHeaders: boolean
  /** An older name of `legacyHeaders`. */
  headers?: boolean
  /** Which draft of the `RateLimit` headers to send; `true` is `'draft-6'`. Default false. */
  standardHeaders: boolean | DraftHeadersVersion
  /**
   * The name of the policy in the headers of draft 8. Default: made from the limit and the window, such as
   * `5-in-1min`. With a headgate store, a string is also the limiter's name in keys: limiters that share a
   * store need different ones.
   */
  identifier: string | ValueDeterminingMiddleware<string>
  /** The seconds in `Retry-After`, or a function that returns them. Default: until the window ends. */
  retryAfter?: number | ValueDeterminingMiddleware<number>
  /** Under which name a request carries its `RateLimitInfo`. Default `'rateLimit'`. */
  requestPropertyName: string
  /** Whether to refund the hits of requests that failed, or whose client hung up. Default false. */
  skipFailedRequests: boolean
  /** Whether to refund the hits of requests that succeeded. Default false. */
  skipSuccessfulRequests: boolean
  /** Whether a finished request has succeeded. Default: a status below 400. */
  requestWasSuccessful: ValueDeterminingMiddleware<boolean>
  /** Returns a client's key. Default: `req.ip` by `ipKeyGenerator`. */
  keyGenerator: ValueDeterminingMiddleware<string>
  /** The length of an IPv6 network that is one client, from 32 to 64, for the default key. Default 56. */
  ipv6Subnet: number | false | ValueDeterminingMiddleware<number>
  /** Responds to a denied request. Default: `statusCode` and `message`. */
  handler: RateLimitExceededEventHandler
  /** Whether a request passes uncounted. Default: none does. */
  skip: ValueDeterminingMiddleware<boolean>
  /** Where hits are counted. Default: a `MemoryStore`. */
  store: Store | LegacyStore
  /** Which checks for common mistakes run. Each runs once and logs what it finds. Default: all. */
  validate: boolean | EnabledValidations
  /** Whether requests pass when the store fails; otherwise its error goes to `next`. Default false. */
  passOnStoreError: boolean
  /** Default: the console. */
  logger: Logger
}

/** What `rateLimit` takes: any of the options, and a store of express-rate-limit or one of headgate. */
export type GivenOptions = Partial<Omit<Options, 'store'>> & { store?: Options['store'] | HeadgateStore }
