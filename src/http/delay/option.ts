import type { IncomingMessage } from 'node:http'
import type { LIMIT_ROWS } from '../../limiter/read-limits.js'
import { readOptions, type Settings, withDefault } from '../../options/option-table.js'
import { type Duration, durationMs } from '../../util/durations.js'
import type { FrameworkTypes } from '../../util/framework-types.js'
import { type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import { whole, wrongOption, wrongUse } from '../../util/validate.js'
import { DELAY, type DelaySource, type RequestDelay } from '../delay-source.js'
import { type DelayBy, delayedCharge } from './delayed-charge.js'

/** Which requests to delay, and for how long. */
export interface DelayOptions<Req> {
  /** How many units of the limit a client may use without a delay. A whole number of at least 0. */
  after: number
  /**
   * The delay for each unit beyond `after`, or a function that returns the whole delay in milliseconds. The
   * function gets the used units. A result of 0 or less means no delay.
   */
  by: Duration | ((used: number, req: Req) => MaybePromise<number>)
  /** The longest delay. Default `'10s'`. */
  max?: Duration
}

/** The options of the limits whose requests are delayed. */
export type DelayableLimits = Pick<Settings<typeof LIMIT_ROWS>, 'limit' | 'policy' | 'limits'>

/** A delay that is the same for each request. */
type FixedDelay = DelayOptions<unknown> & { by: Duration }

/** The type of `requestDelay` in a framework. Without an annotation, `by` takes the framework's requests. */
export type MakeRequestDelay<F extends FrameworkTypes> = {
  (options: FixedDelay): RequestDelay<unknown>
  <Req = F['request']>(options: DelayOptions<Req>): RequestDelay<Req>
}

/** A function, because bundles keep a constant that calls others. */
const table = () => ({
  rows: { after: whole(0, Number.MAX_SAFE_INTEGER, 5), by: readBy, max: withDefault('10s', durationMs) },
})

/**
 * Creates the delay of requests, for the option `delay`. Requests of clients that have used more than `after`
 * units of their limit wait before they reach their handler.
 *
 * @example
 * ```ts
 * import { rateLimit, requestDelay } from 'headgate'
 *
 * const api = rateLimit({
 *   limit: 100,
 *   window: '1m',
 *   delay: requestDelay({ after: 50, by: '500ms', max: '10s' }),
 * })
 * ```
 */
export function requestDelay(options: FixedDelay): RequestDelay<unknown>
export function requestDelay<Req = IncomingMessage>(options: DelayOptions<Req>): RequestDelay<Req>
export function requestDelay<Req>(options: DelayOptions<Req>): RequestDelay<Req> {
  const source: DelaySource & { readonly options: DelayOptions<Req> } = {
    options,
    read(owner, option) {
      const delay = readOptions(`${owner}: ${option}`, options, table())
      return {
        checkLimits: (limiterOwner, limits) => checkLimits(limiterOwner, delay.after, limits),
        charge: delayedCharge(delay),
      }
    },
  }
  return { [DELAY]: source }
}

function readBy(owner: string, option: string, by: unknown): number | DelayBy {
  if (typeof by !== 'function') return durationMs(owner, option, by)
  return (used, req) =>
    thenMaybe(by(used, req), (delayMs: unknown) => {
      if (typeof delayMs === 'number' && !Number.isNaN(delayMs)) return delayMs
      throw wrongOption(owner, option, 'a function that returns milliseconds', delayMs)
    })
}

function checkLimits(owner: string, after: number, { limit, policy, limits = [] }: DelayableLimits): void {
  if (limits.length > 1) {
    const problem = 'delay supports only one limit: its numbers are units of that limit'
    throw wrongUse(owner, problem, 'Create middleware for each limit, and put delay into one.')
  }
  const limitPolicy = limits[0]?.policy ?? policy
  if (typeof limitPolicy === 'object' && limitPolicy.holdsUnits) {
    const problem = 'delay cannot be combined with concurrency: a request would hold its units while it waits'
    throw wrongUse(owner, problem, 'Put concurrency into its own middleware, after this one.')
  }
  const most = typeof limitPolicy === 'object' ? limitPolicy.limit : limit
  if (most === undefined || after < most) return
  const fix = 'Requests over the limit are denied, not delayed.'
  throw wrongOption(owner, 'delay.after', `below the limit of ${most}`, after, fix)
}
