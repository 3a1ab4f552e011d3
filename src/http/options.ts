import type { IncomingMessage, ServerResponse } from 'node:http'
import { accessRule } from '../limiter/access-rules.js'
import type { Decision } from '../limiter/decision.js'
import type { LimiterOptions } from '../limiter/options.js'
import { LIMITER_ROWS, LIMITER_RULES, limiterSettings } from '../limiter/parse-options.js'
import { FOREIGN_OPTIONS, POLICY_OPTIONS } from '../options/foreign-options.js'
import { callback, readOptions, withDefault } from '../options/option-table.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { choice } from '../util/validate.js'
import { ANSWER_ROWS, type AnswerOptions } from './answer.js'
import { type Count, refundUncounted } from './refund-uncounted.js'
import type { Server } from './server.js'

/** Continues with the next handler; with an error, with the error handlers of Express or Connect. */
export type Next = (error?: unknown) => void

/** Answers a limited request. */
export type OnLimited<Req, Res> = (req: Req, res: Res, next: Next, decision: Decision) => unknown

/** The options for requests of any framework. */
export interface RequestOptions<Req, Res>
  extends Omit<LimiterOptions<Req>, 'skip'>,
    Omit<AnswerOptions, 'accept'> {
  /** Requests for which it returns true pass unlimited and uncounted. */
  skip?: (req: Req, res: Res) => MaybePromise<boolean>
  /**
   * Which requests count. `'failed'` and `'successful'` charge a request before its handler runs, and refund
   * it once the response has finished with the other outcome (failed = status 400 and up); a function
   * decides by the response. A client that hangs up before the answer stays charged. Default `'all'`.
   */
  count?: Count<Req, Res>
}

/**
 * The options of `rateLimit`. All functions may be async. What they throw goes to `next`; what a `count`
 * function throws comes when the response is over, and is emitted as `refundFailed`.
 */
export interface RateLimitOptions<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> extends RequestOptions<Req, Res> {
  /** Answers a limited request; the headers are set. Default: text or problem+json, as `Accept` says. */
  onLimited?: OnLimited<Req, Res>
}

/** How the options of `rateLimit` are read. */
export const MIDDLEWARE_ROWS = {
  ...LIMITER_ROWS,
  ...ANSWER_ROWS,
  count: withDefault('all', readCount),
  onLimited: callback,
}

/**
 * Reads and checks the options for requests. `onLimited` answers a limited request; the headers are set.
 * Throws a `TypeError` that names the option and the fix.
 */
export function readRequestOptions<Req, Res>(
  owner: string,
  options: RequestOptions<Req, Res>,
  server: Server<Res>,
) {
  const table = {
    rows: MIDDLEWARE_ROWS,
    rules: LIMITER_RULES,
    fixes: { ...FOREIGN_OPTIONS, ...POLICY_OPTIONS },
  }
  const read = readOptions(owner, options, table)
  const { count = 'all', skip } = options
  return {
    ...read,
    skip,
    accessRule: accessRule(owner, read, read.entries),
    onAllowed: count === 'all' ? undefined : refundUncounted(count, server),
    enforce: read.mode === 'enforce',
    // Where refunds are the rule, perhaps by another process, a denial is cached for a short time.
    limiter: limiterSettings(owner, read, count === 'all' ? 1000 : 100),
  }
}

const namedCount = choice('all', 'failed', 'successful')

function readCount(owner: string, option: string, count: unknown): unknown {
  return typeof count === 'function' ? count : namedCount(owner, option, count)
}
