import type { IncomingMessage, ServerResponse } from 'node:http'
import { addressList } from '../keys/address-list.js'
import { addressReaderAmong } from '../keys/address-use.js'
import type { Decision } from '../limiter/decision.js'
import type { LimiterOptions } from '../limiter/options.js'
import type { Entry } from '../limiter/parse-limits.js'
import { LIMITER_ROWS, LIMITER_RULES, limiterSettings } from '../limiter/parse-options.js'
import { FOREIGN_OPTIONS, POLICY_OPTIONS } from '../options/foreign-options.js'
import { callback, optional, readOptions, type Settings, withDefault } from '../options/option-table.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { choice, whole, wrongOption } from '../util/validate.js'
import { type DenialBody, messageBody } from './denial-body.js'
import type { HeaderStyle, ResetFormat } from './headers.js'
import { type Count, refundUncounted } from './refund-uncounted.js'

/** Continues with the next handler; with an error, with the error handlers of Express or Connect. */
export type Next = (error?: unknown) => void

/** Answers a limited request. */
export type OnLimited<Req, Res> = (req: Req, res: Res, next: Next, decision: Decision) => unknown

/**
 * The options of `rateLimit`. All functions may be async. What they throw goes to `next`; what a `count`
 * function throws comes when the response is over, and is emitted as `refundFailed`.
 */
export interface RateLimitOptions<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> extends LimiterOptions<Req> {
  /** Requests for which it returns true pass unlimited and uncounted. */
  skip?: (req: Req, res: Res) => MaybePromise<boolean>
  /** Addresses and CIDR ranges that pass unlimited and uncounted. */
  allow?: readonly string[]
  /** Addresses and CIDR ranges that get a 403. Takes precedence over `allow`. */
  block?: readonly string[]
  /**
   * Which requests count. `'failed'` and `'successful'` charge a request before its handler runs, and refund
   * it once the response has finished with the other outcome (failed = status 400 and up); a function
   * decides by the response. A client that hangs up before the answer stays charged. Default `'all'`.
   */
  count?: Count<Req, Res>
  /** Which quota headers are sent, beside `Retry-After` on a 429. Default `'legacy'` (`X-RateLimit-*`). */
  headers?: HeaderStyle
  /** How `X-RateLimit-Reset` counts. Default `'epoch-seconds'`. */
  resetFormat?: ResetFormat
  /** Answers a limited request; the headers are set. Default: text or problem+json, as `Accept` says. */
  onLimited?: OnLimited<Req, Res>
  /** The status for limited requests, from 400 to 599. Default 429. */
  statusCode?: number
  /** The body for limited requests: a string as plain text, an object as JSON. */
  message?: string | object
  /** `'report'` decides, counts and emits, but neither denies nor sets headers. Default `'enforce'`. */
  mode?: 'enforce' | 'report'
}

/** How the options of `rateLimit` are read. */
export const MIDDLEWARE_ROWS = {
  ...LIMITER_ROWS,
  skip: callback,
  allow: optional(readAddresses),
  block: optional(readAddresses),
  count: withDefault('all', readCount),
  headers: withDefault('legacy', choice('legacy', 'draft', 'both', 'none')),
  resetFormat: withDefault('epoch-seconds', choice('epoch-seconds', 'delta-seconds')),
  onLimited: callback,
  statusCode: withDefault(429, whole(400, 599, 429)),
  message: optional(readMessage),
  mode: withDefault('enforce', choice('enforce', 'report')),
}

type MiddlewareRead = Settings<typeof MIDDLEWARE_ROWS>

/** Reads and checks the options of `rateLimit`. Throws a `TypeError` that names the option and the fix. */
export function readMiddlewareOptions<Req extends IncomingMessage, Res extends ServerResponse>(
  owner: string,
  options: RateLimitOptions<Req, Res>,
) {
  const table = {
    rows: MIDDLEWARE_ROWS,
    rules: LIMITER_RULES,
    fixes: { ...FOREIGN_OPTIONS, ...POLICY_OPTIONS },
  }
  const read = readOptions(owner, options, table)
  const { count = 'all', skip, onLimited } = options
  return {
    ...read,
    skip,
    onLimited,
    addressRule: addressRule(owner, read),
    onAllowed: count === 'all' ? undefined : refundUncounted(count),
    enforce: read.mode === 'enforce',
    // Where refunds are the rule, perhaps by another process, a denial is cached for a short time.
    limiter: limiterSettings(owner, read, count === 'all' ? 1000 : 100),
  }
}

/** The options of `rateLimit`, read and checked. */
export type MiddlewareSettings<Req extends IncomingMessage, Res extends ServerResponse> = ReturnType<
  typeof readMiddlewareOptions<Req, Res>
>

const namedCount = choice('all', 'failed', 'successful')

function readCount(owner: string, option: string, count: unknown): unknown {
  return typeof count === 'function' ? count : namedCount(owner, option, count)
}

function readMessage(owner: string, option: string, message: unknown): DenialBody {
  try {
    if (typeof message === 'string' || (typeof message === 'object' && message !== null))
      return messageBody(message)
  } catch {
    // JSON.stringify throws for a cycle and for a bigint: reported below, with the fix.
  }
  const must = 'a string, or an object that JSON can hold'
  throw wrongOption(owner, option, must, message, 'Use onLimited to write the whole response.')
}

/** Returns a checked list. `addressRule` compiles it, for the networks that the key reads as IPv4. */
function readAddresses(owner: string, option: string, entries: unknown): readonly string[] {
  addressList(owner, option, entries)
  return entries as readonly string[]
}

/** Creates a function that returns the rule for a request's address. It throws a `DisconnectedError`. */
function addressRule(
  owner: string,
  { allow = [], block = [], mode, entries }: MiddlewareRead & { readonly entries: readonly Entry[] },
): ((subject: unknown) => 'allow' | 'block' | undefined) | undefined {
  if (allow.length + block.length === 0) return undefined
  const read = addressReaderAmong(entries)
  const isAllowed = addressList(owner, 'allow', allow, read.embeddings)
  const isBlocked = addressList(owner, 'block', block, read.embeddings)
  return (subject) => {
    const address = read(subject)
    if (mode === 'enforce' && isBlocked(address)) return 'block'
    return isAllowed(address) ? 'allow' : undefined
  }
}
