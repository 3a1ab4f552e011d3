import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from '../limiter/decision.js'
import type { LimiterFields, LimitWithWindow } from '../limiter/options.js'
import { limitsRow } from '../limiter/read-limits.js'
import { LIMITER_ROWS, LIMITER_RULES, limiterSettings } from '../limiter/read-options.js'
import { callback, optional, readOptions, type Settings, withDefault } from '../options/option-table.js'
import type { FrameworkTypes, ServerTypes } from '../util/framework-types.js'
import { choice } from '../util/validate.js'
import { type Count, refundUncounted } from './after-response.js'
import { type ResponseCost, readCostOption } from './cost-source.js'
import { type RequestDelay, readDelayOption } from './delay-source.js'
import { RESPONSE_ROWS, type ResponseOptions } from './denial-response.js'
import type { ResponseWriter } from './response-writer.js'

/**
 * Continues with the next handler. With an error, continues with the error handlers of Express or Connect.
 */
export type Next = (error?: unknown) => void

/** The types of node:http and Connect, or of a framework that calls middleware in the same way. */
export type NodeTypes<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> = ServerTypes<Req, Res, [req: Req, res: Res, next: Next]>

/**
 * The options for the requests of a framework, with or without a limit. Each part of `F` is a separate
 * parameter, so that TypeScript infers each one alone. Otherwise the first callback without an annotation
 * would settle all of them.
 */
export type RequestOptions<F extends FrameworkTypes> = RequestFields<
  F['request'],
  F['response'],
  F['requestTest']
>

/** The options for requests, by the arguments of their callbacks. */
export interface RequestFields<Req, Res, Skip>
  extends Omit<LimiterFields<Req>, 'skip'>,
    Omit<ResponseOptions, 'accept'> {
  /**
   * Returns whether a request is exempt: allowed, unlimited and uncounted. `limiter.charge(req)` also calls
   * it, and passes `req.res`, which Express sets. A value such as a header is a `TypeError`, because clients
   * choose it. Falsy values exempt no request.
   */
  skip?: Skip
  /**
   * Which requests stay charged: `'all'`, `'failed'` (status 400 and up), `'successful'`, or those for which
   * a function returns true. Default `'all'`. If it does not return a boolean, the request stays charged, and
   * `refundFailed` is emitted.
   *
   * Each request is charged before its handler runs, and refunded after the response if it does not count.
   * In servers of the Fetch standard, `finish` refunds it. If the client hangs up first, the request stays
   * charged. If only requests that have no response yet cause a denial, its retry time is a second at most,
   * and no ban counts it.
   */
  count?: Count<Req, Res>
  /**
   * Corrects each charge to what its request cost in the end, as `responseCost` says: a whole number of units
   * of at least 0. With several limits, it returns units by limit name, such as `{ tokens: 1210 }`. Limits
   * that it leaves out keep their charge.
   *
   * Each request is charged `cost`, at least 1, before its handler runs. Once the response has finished,
   * headgate refunds the difference, or takes as much of it as is left. In servers of the Fetch standard,
   * `finish` does so. If the client hangs up first, nothing is refunded. Cannot be combined with `count`.
   */
  actualCost?: ResponseCost<Req, Res>
  /**
   * Delays requests of clients that have used much of their limit, as `requestDelay` says. Requests over the
   * limit are denied. If the client hangs up during the delay, the request never reaches its handler. Over
   * HTTP/1.1, Node.js sees no hang-up while an upload of some 100 KB or more is unread.
   *
   * There are 1,000 places for delayed requests, and a client gets no more than are left. The limiter must
   * have one limit, other than `concurrency`.
   */
  delay?: RequestDelay<Req>
}

/** The option that responds to a denied request in a framework. */
export type DenialOptions<F extends FrameworkTypes> = DenialFields<F['handlerArgs'], F['handlerResult']>

/** The option that responds to a denied request, by the arguments and the result of a handler. */
interface DenialFields<Args extends readonly unknown[], Result> {
  /**
   * Responds to a denied request, in place of headgate. Called with the arguments of a handler, and the
   * decision last. The status and the headers are already set. In servers of the Fetch standard, a
   * `Response` that it returns keeps its status, and gets the headers that it lacks. Default: text or
   * problem+json, as `Accept` says.
   *
   * If it calls `next()`, the request passes. Its decision, events and quota headers still show a denial,
   * such as `X-RateLimit-Remaining: 0`. The status, `Retry-After` and `Cache-Control` of the denial are
   * removed.
   */
  onDenied?: (...args: [...Args, decision: Decision]) => Result
}

/**
 * The options of `rateLimit` in a framework. All functions may be async. If one throws, the framework
 * handles the error. `count` and `actualCost` run after the response, so their errors are emitted as
 * `refundFailed`.
 */
export type RateLimitOptions<F extends FrameworkTypes> = RequestOptions<F> &
  LimitWithWindow &
  DenialOptions<F>

export const MIDDLEWARE_ROWS = {
  ...LIMITER_ROWS,
  ...RESPONSE_ROWS,
  count: withDefault('all', readCount),
  actualCost: optional(readCostOption),
  delay: optional(readDelayOption),
  onDenied: callback,
}

const DELAY_RULE = {
  from: ['delay', 'limit', 'policy', 'limits'],
  read(owner: string, { delay, ...limits }: Settings<typeof MIDDLEWARE_ROWS>): void {
    delay?.checkLimits(owner, limits)
  },
} as const

const COST_RULE = {
  from: ['actualCost', 'count', 'cost', 'limits'],
  read(owner: string, { actualCost, ...options }: Settings<typeof MIDDLEWARE_ROWS>): void {
    actualCost?.checkOptions(owner, options)
  },
} as const

/** The rules about options that only middleware has. */
export const MIDDLEWARE_RULES = { delayCheck: DELAY_RULE, costCheck: COST_RULE }

/**
 * Reads and checks the options for requests. Throws a `TypeError` that names the option and the fix.
 */
export function readRequestOptions<Req, Res>(
  owner: string,
  options: RequestOptions<ServerTypes<Req, Res>>,
  writer: ResponseWriter<Res>,
) {
  const { fixes, reportedReader } = writer
  const { general, own } = fixes
  const table = {
    rows: { ...MIDDLEWARE_ROWS, limits: limitsRow(general) },
    rules: { ...LIMITER_RULES, ...MIDDLEWARE_RULES },
    fixes: { ...general, ...own },
  }
  const read = readOptions(owner, options, table)
  const { count = 'all' } = options
  const refund = count === 'all' ? undefined : refundUncounted(count, writer)
  const onAllowed = read.actualCost?.adjustAfterResponse<Req, Res>(writer) ?? refund
  // If most requests are refunded, perhaps by another process, a denial is cached only for a short time.
  const limiter = limiterSettings(owner, read, onAllowed === undefined ? 1000 : 100, reportedReader())
  return {
    ...read,
    onAllowed,
    limiter,
  }
}

const namedCount = choice('all', 'failed', 'successful')

function readCount(owner: string, option: string, count: unknown): unknown {
  return typeof count === 'function' ? count : namedCount(owner, option, count)
}
