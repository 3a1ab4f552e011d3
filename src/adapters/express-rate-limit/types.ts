import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Store as HeadgateStore } from '../../stores/store.js'
import type { MaybePromise } from '../../util/maybe-promise.js'

/** How many hits a client has made, and when its window ends. */
export type ClientRateLimitInfo = {
  totalHits: number
  /** When the window ends, or `undefined` if the store does not know. */
  resetTime: Date | undefined
}

/** What `increment` returns. */
export type IncrementResponse = ClientRateLimitInfo

/** A count whose store knows when its window ends. */
export type Client = ClientRateLimitInfo & { resetTime: Date }

/** A store of express-rate-limit. It counts the hits of each key in a window of `options.windowMs`. */
export type Store = {
  /** Called once, when the middleware is created. Errors are logged. */
  init?: (options: Options) => MaybePromise<void>
  /** Returns the count of a key, or `undefined` if it has none. */
  get?: (key: string) => MaybePromise<ClientRateLimitInfo | undefined>
  /** Counts a hit and returns the count with it. */
  increment: (key: string) => MaybePromise<IncrementResponse>
  /** Takes back one hit. */
  decrement: (key: string) => MaybePromise<void>
  /** Forgets a key. */
  resetKey: (key: string) => MaybePromise<void>
  /** Forgets all keys. */
  resetAll?: () => MaybePromise<void>
  /** Releases what the store opened. */
  shutdown?: () => MaybePromise<void>
  /** Whether other objects of the class do not share the counts of this one. */
  localKeys?: boolean
  /** What the store puts before each key. A key may be counted twice under two prefixes. */
  prefix?: string
}

/** A callback that receives the count from a store with callbacks. */
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

/** The drafts of the IETF's `RateLimit` headers that `standardHeaders` accepts. */
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

/** Logs an error. The message says where it happened, if the error itself does not. */
export type LoggerFn = (error: unknown, message?: string) => void

/** A logger for errors and warnings, such as those of pino and winston. */
export type Logger = { error: LoggerFn; warn: LoggerFn }

/** Returns a value for a request, or a promise of it. */
export type ValueDeterminingMiddleware<T> = (request: Request, response: Response) => MaybePromise<T>

/** A function that responds to a request over its limit. */
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

/** Which checks run, by name. `default` is for those that you do not name. */
export type EnabledValidations = { [Name in CheckName | 'default']?: boolean }

/** A client's usage of its limit, which a request carries as `req.rateLimit` by default. */
export type RateLimitInfo = {
  limit: number
  /** The hits in this window, including this one and those over the limit. */
  used: number
  remaining: number
  /** When the window ends, or `undefined` if the store does not know. */
  resetTime: Date | undefined
  key: string
}

/**
 * A request that has passed a limiter: `(req as AugmentedRequest).rateLimit`. `headgate` declares another
 * type of `req.rateLimit` for its own limiters, which this type leaves out.
 */
export type AugmentedRequest = Omit<Request, 'rateLimit'> & { [property: string]: RateLimitInfo }

/** The middleware, with methods of its store. */
export type RateLimitRequestHandler = RequestHandler & {
  /** Forgets a client. */
  resetKey: (key: string) => void
  /** Returns a client's count. Throws if the store has no `get`. */
  getKey: (key: string) => MaybePromise<ClientRateLimitInfo | undefined>
}

/** The options of express-rate-limit 8, with the same meaning. */
export type Options = {
  /** The length of the window in milliseconds, from a client's first request. Default 60,000. */
  windowMs: number
  /** The most hits of a client in a window, or a function that returns it for a request. Default 5. */
  limit: number | ValueDeterminingMiddleware<number>
  /** An older name of `limit`. */
  max?: number | ValueDeterminingMiddleware<number>
  /**
   * The body of the response to a denied request, or a function that returns it. It is passed to `res.send`.
   * Default: a sentence.
   */
  // biome-ignore lint/suspicious/noExplicitAny: what express-rate-limit has, so that its users' code compiles.
  message: any | ValueDeterminingMiddleware<any>
  /** The status of the response to a denied request. Default 429. */
  statusCode: number
  /** Whether to send `X-RateLimit-*` headers. Default true. */
  legacyHeaders: boolean
  /** An older name of `legacyHeaders`. */
  headers?: boolean
  /** Which draft of the `RateLimit` headers to send. `true` is `'draft-6'`. Default false. */
  standardHeaders: boolean | DraftHeadersVersion
  /**
   * The name of the policy in the headers of draft 8. Default: made from the limit and the window, such as
   * `5-in-1min`. With a headgate store, a string is also the limiter's name in keys, so limiters that share
   * a store need different ones.
   */
  identifier: string | ValueDeterminingMiddleware<string>
  /**
   * The seconds in `Retry-After`, or a function that returns them. Default: the time until the window ends.
   */
  retryAfter?: number | ValueDeterminingMiddleware<number>
  /** The property of a request that holds its `RateLimitInfo`. Default `'rateLimit'`. */
  requestPropertyName: string
  /** Whether to take back the hits of requests that failed, or whose client hung up. Default false. */
  skipFailedRequests: boolean
  /** Whether to take back the hits of requests that succeeded. Default false. */
  skipSuccessfulRequests: boolean
  /** Returns whether a finished request has succeeded. Default: a status below 400. */
  requestWasSuccessful: ValueDeterminingMiddleware<boolean>
  /** Returns a client's key. Default: `req.ip`, as `ipKeyGenerator` converts it. */
  keyGenerator: ValueDeterminingMiddleware<string>
  /**
   * The length of an IPv6 network that counts as one client, from 32 to 64, for the default key. Default 56.
   */
  ipv6Subnet: number | false | ValueDeterminingMiddleware<number>
  /** Responds to a denied request. Default: sends `statusCode` and `message`. */
  handler: RateLimitExceededEventHandler
  /** Returns whether a request passes uncounted. Default: none does. */
  skip: ValueDeterminingMiddleware<boolean>
  /** Where hits are counted. Default: a `MemoryStore`. */
  store: Store | LegacyStore
  /** Which checks for common mistakes run. Each runs once and logs what it finds. Default: all. */
  validate: boolean | EnabledValidations
  /** Whether requests pass if the store fails. Otherwise the error goes to `next`. Default false. */
  passOnStoreError: boolean
  /** The logger for errors and warnings. Default: the console. */
  logger: Logger
}

/**
 * The options that `rateLimit` takes: any of `Options`, and a store of express-rate-limit or of headgate.
 */
export type GivenOptions = Partial<Omit<Options, 'store'>> & { store?: Options['store'] | HeadgateStore }
