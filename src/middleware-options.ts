import type { IncomingMessage, ServerResponse } from 'node:http'
import { type DenialBody, messageBody } from './answers/denial.js'
import type { ResetFormat } from './answers/headers.js'
import type { HeaderStyle } from './answers/respond.js'
import { given, knownOptions, oneOf, optionalFunction, wholeNumber, wrongOption } from './checks.js'
import type { Decision } from './decision.js'
import { type AddressTest, addressList } from './keys/address-list.js'
import { readerOf } from './keys/by-ip.js'
import { type AddressReader, addressReader } from './keys/source-address.js'
import type { MaybePromise } from './maybe-promise.js'
import { LIMITER_OPTIONS, type LimiterOptions, RENAMED_OPTIONS } from './options.js'
import { readKeys } from './read-limits.js'
import { type LimiterSettings, readLimiterOptions } from './read-options.js'

/** What goes on after a middleware; with an error, Express' and Connect's error handlers. */
export type Next = (error?: unknown) => void

/** Which responses stay charged; the others are given back. A function returns true for those that count. */
export type Count<Req, Res> =
  | 'all'
  | 'failed'
  | 'successful'
  | ((req: Req, res: Res) => MaybePromise<boolean>)

/**
 * The options of `rateLimit`. All functions may be async. What they throw goes to `next`; what a `count` function throws
 * comes when the response is over, and is emitted as `refundFailed`.
 */
export interface RateLimitOptions<Req extends IncomingMessage, Res extends ServerResponse>
  extends LimiterOptions<Req> {
  /** Requests for which it returns true pass unlimited and uncounted. */
  skip?: (req: Req, res: Res) => MaybePromise<boolean>
  /** Addresses and CIDR ranges that pass unlimited and uncounted. */
  allow?: readonly string[]
  /** Addresses and CIDR ranges that are answered 403. Looked at before `allow`. */
  block?: readonly string[]
  /**
   * What counts. `'failed'` and `'successful'` take before the handler runs, and give back once the response has finished
   * with the other outcome (failed = status 400 and up), or with what a function decides. A client that hangs up before
   * the answer gets nothing back. Default `'all'`.
   */
  count?: Count<Req, Res>
  /** Which headers tell the client its quota. Default `'legacy'` (`X-RateLimit-*`). `Retry-After` is on every 429. */
  headers?: HeaderStyle
  /** How `X-RateLimit-Reset` counts. Default `'epoch-seconds'`. */
  resetFormat?: ResetFormat
  /** Answers a limited request itself; the headers are set. Default: a short text, or problem+json, by `Accept`. */
  onLimited?: (req: Req, res: Res, next: Next, decision: Decision) => unknown
  /** The status for limited requests, from 400 to 599. Default 429. */
  statusCode?: number
  /** The body for limited requests: a string as plain text, an object as JSON. */
  message?: string | object
  /** `'report'` decides, counts and emits, and never blocks nor sets headers. Default `'enforce'`. */
  mode?: 'enforce' | 'report'
}

/** Which requests the limiter leaves alone or turns away unasked, by address. */
export interface AddressRules {
  readonly read: AddressReader
  readonly isBlocked: AddressTest
  readonly isAllowed: AddressTest
}

/** The options of `rateLimit`, read and checked. */
export interface MiddlewareSettings<Req, Res> {
  readonly limiter: LimiterSettings
  readonly skip: ((req: Req, res: Res) => MaybePromise<boolean>) | undefined
  readonly addresses: AddressRules | undefined
  readonly count: Count<Req, Res>
  readonly headers: HeaderStyle
  readonly resetFormat: ResetFormat
  readonly onLimited: ((req: Req, res: Res, next: Next, decision: Decision) => unknown) | undefined
  readonly statusCode: number
  readonly message: DenialBody | undefined
  readonly enforce: boolean
}

const OWN_OPTIONS = [
  'skip',
  'allow',
  'block',
  'count',
  'headers',
  'resetFormat',
  'onLimited',
  'statusCode',
  'message',
  'mode',
] as const

const RENAMED = {
  ...RENAMED_OPTIONS,
  handler: 'onLimited',
  onLimitReached: 'onLimited',
  standardHeaders: "headers: 'draft'",
  legacyHeaders: "headers: 'legacy'",
  draft_polli_ratelimit_headers: "headers: 'draft'",
  skipSuccessfulRequests: "count: 'failed'",
  skipFailedRequests: "count: 'successful'",
  requestWasSuccessful: 'count: (req, res) => boolean',
  trustProxy: "key: byIp({ trustProxy }), or app.set('trust proxy', 1) in Express",
  whitelist: 'allow',
  blacklist: 'block',
} as const

/** Reads and checks the options of `rateLimit`. Throws a `TypeError` that names the option and the mend. */
export function readMiddlewareOptions<Req extends IncomingMessage, Res extends ServerResponse>(
  options: RateLimitOptions<Req, Res>,
): MiddlewareSettings<Req, Res> {
  knownOptions('rateLimit', options, [...LIMITER_OPTIONS, ...OWN_OPTIONS], RENAMED)
  optionalFunction('rateLimit', 'skip', options.skip)
  optionalFunction('rateLimit', 'onLimited', options.onLimited)
  const headerStyles = ['legacy', 'draft', 'both', 'none'] as const
  const resetFormats = ['epoch-seconds', 'delta-seconds'] as const
  return {
    skip: options.skip,
    addresses: readAddressRules(options),
    count: readCount(given(options.count, 'all')),
    headers: oneOf('rateLimit', 'headers', given(options.headers, 'legacy'), headerStyles),
    resetFormat: oneOf('rateLimit', 'resetFormat', given(options.resetFormat, 'epoch-seconds'), resetFormats),
    onLimited: options.onLimited,
    statusCode: wholeNumber('rateLimit', 'statusCode', given(options.statusCode, 429), 400, 599, 429),
    message: readMessage(options.message),
    enforce: oneOf('rateLimit', 'mode', given(options.mode, 'enforce'), ['enforce', 'report']) === 'enforce',
    limiter: readLimiterOptions('rateLimit', options),
  }
}

function readCount<Req, Res>(count: Count<Req, Res>): Count<Req, Res> {
  if (typeof count === 'function') return count
  return oneOf('rateLimit', 'count', count, ['all', 'failed', 'successful'] as const)
}

function readMessage(message: unknown): DenialBody | undefined {
  if (message === undefined) return undefined
  try {
    if (typeof message === 'string' || (typeof message === 'object' && message !== null))
      return messageBody(message)
  } catch {
    // JSON.stringify throws for a cycle and for a bigint: told below, with the mend.
  }
  const must = 'a string, or an object that JSON can hold'
  throw wrongOption('rateLimit', 'message', must, message, 'For a whole answer of your own use onLimited.')
}

function readAddressRules<Req extends IncomingMessage, Res extends ServerResponse>(
  options: RateLimitOptions<Req, Res>,
): AddressRules | undefined {
  if (options.allow === undefined && options.block === undefined) return undefined
  const keys = (options.limits ?? [options]).flatMap(({ key }) => readKeys('rateLimit', key))
  return {
    read: keys.map(readerOf).find((reader) => reader !== undefined) ?? addressReader('rateLimit', undefined),
    isBlocked: addressList('rateLimit', 'block', given(options.block, [])),
    isAllowed: addressList('rateLimit', 'allow', given(options.allow, [])),
  }
}
