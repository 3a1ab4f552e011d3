import type { NextFunction, Request, Response } from 'express'
import { checkNodeCall } from '../../http/check-caller.js'
import { eachHeader, type HeaderList } from '../../http/header-list.js'
import { isPlaceholder, noOutcome } from '../../http/placeholder.js'
import { presetDenial } from '../../http/preset-denial.js'
import { NO_STORE } from '../../http/quota-headers.js'
import { recordDecision } from '../../http/recorded-decision.js'
import { nodeWriter, setAll } from '../../http/response-writer.js'
import { hearErrors } from '../../http/unheard-error.js'
import { isDisconnected, peerAddress } from '../../keys/request.js'
import { isPromise, type MaybePromise } from '../../util/maybe-promise.js'
import type { Check } from './checks.js'
import { draftHeaders, legacyHeaders, type Quota, resetSeconds } from './headers.js'
import { type Hit, HitCounter } from './hit-counter.js'
import { checkLimit } from './numbers.js'
import { type Refundable, refundSkipped } from './refunds.js'
import { type CompatSettings, readSettings } from './settings.js'
import type {
  GivenOptions,
  IncrementResponse,
  Options,
  RateLimitInfo,
  RateLimitRequestHandler,
  Store,
} from './types.js'

type HttpExchange = readonly [Request, Response, NextFunction]

/**
 * Creates middleware with the options, headers and responses of express-rate-limit 8. It counts in a store
 * of express-rate-limit or of headgate.
 *
 * Throws a `TypeError` for options that cannot work. Other mistakes are logged, as `validate` says.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { rateLimit } from 'headgate/express-rate-limit' // was: 'express-rate-limit'
 *
 * const app = express()
 * app.use(rateLimit({ windowMs: 15 * 60 * 1000, limit: 100, standardHeaders: 'draft-8' }))
 * app.listen(3000)
 * ```
 */
export function rateLimit(options: GivenOptions | null = {}): RateLimitRequestHandler {
  const { settings, check } = readSettings(options)
  const { store } = settings
  const shown = { ...settings }
  check('creationStack')
  check('unsharedStore', store)
  initStore(store, shown)

  let isChecked = false

  function rateLimitMiddleware(req: Request, res: Response, next: NextFunction): Promise<void> {
    if (!isChecked) isChecked = checkNodeCall('rateLimit', req, next)
    const fail = next.length > 0 ? next : hearErrors('rateLimit', req, res, next)
    return limitRequest(settings, check, shown, [req, res, next]).catch(fail)
  }

  return Object.assign(rateLimitMiddleware, {
    resetKey: store.resetKey.bind(store),
    getKey: store.get?.bind(store) ?? withoutGet,
  })
}

function withoutGet(): never {
  throw new Error('rateLimit: getKey requires a store with a get method, which this store does not have.')
}

function initStore(store: Store, options: Options): void {
  const report = (error: unknown) => options.logger.error(error, 'rateLimit: the store failed to initialize.')
  try {
    const initialized: unknown = store.init?.(options)
    if (isPromise(initialized)) initialized.then(undefined, report)
  } catch (error) {
    report(error)
  }
}

/**
 * Counts a request, and passes it on or responds: in the same tick if nothing returns a promise.
 * `shown` are the options that a handler sees, and may change without effect.
 */
async function limitRequest(
  settings: CompatSettings,
  check: Check,
  shown: Options,
  exchange: HttpExchange,
): Promise<void> {
  const [req, res, next] = exchange
  const skips = settings.skip(req, res)
  if (isPromise(skips)) peerAddress(req) // Node.js remembers it now, whenever the client hangs up
  if (isPromise(skips) ? await skips : skips) return next()

  const isRefunded = settings.skipFailedRequests || settings.skipSuccessfulRequests
  if (isRefunded && isPlaceholder(res)) throw noOutcome('rateLimit', REFUNDING)

  const givenKey = settings.keyGenerator(req, res)
  const key = isPromise(givenKey) ? await givenKey : givenKey
  // A client that has reset its connection has no address, so all such clients would share a key.
  if (!key && peerAddress(req) === undefined && isDisconnected(req)) return void res.status(503).end()
  let hit: CountedHit
  try {
    const counted = settings.store.increment(key)
    hit = countedHit(settings.store, key, isPromise(counted) ? await counted : counted)
  } catch (error) {
    if (!settings.passOnStoreError) throw error
    settings.logger.error(error, 'rateLimit: the store failed, so this request passes uncounted.')
    return next()
  }
  check('positiveHits', hit.totalHits)
  check('singleCount', req, settings.store, key)

  const givenLimit = typeof settings.limit === 'function' ? settings.limit(req, res) : settings.limit
  const limit = isPromise(givenLimit) ? await givenLimit : givenLimit
  checkLimit(limit)
  check('limit', limit)
  const info = infoFor(limit, hit)
  attach(req, settings, info)

  const givenName = nameFor(settings, req, res)
  const name = isPromise(givenName) ? await givenName : givenName
  const quota = { info, windowMs: settings.windowMs, name }
  setHeaders(settings, check, res, quota)
  if (isRefunded) refundSkipped(settings, exchange, hit)
  if (hit.totalHits > limit) return deny(settings, shown, quota, exchange)
  next()
}

const REFUNDING = 'skipFailedRequests and skipSuccessfulRequests need'

/** A hit as it was counted. */
interface CountedHit extends Refundable {
  readonly key: string
  readonly totalHits: number
  readonly resetTime: Date | undefined
}

/** Copies what a store returned, which it may change later. Its `resetTime` may be of any type. */
function countedHit(store: Store, key: string, counted: IncrementResponse): CountedHit {
  const { totalHits, resetTime } = counted
  const endsAtMs = resetTime instanceof Date ? resetTime.getTime() : undefined
  const refund = () => (store instanceof HitCounter ? store.refund(counted as Hit) : store.decrement(key))
  return { key, totalHits, resetTime, endsAtMs, refund }
}

function infoFor(limit: number, { totalHits, resetTime, key }: CountedHit): RateLimitInfo {
  const info = { limit, used: totalHits, remaining: Math.max(limit - totalHits, 0), resetTime, key }
  return Object.defineProperty(info, 'current', { value: totalHits }) // an older name of `used`
}

/** Returns the name of the policy, which only draft 8 has. */
function nameFor(
  { standardHeaders, identifier }: CompatSettings,
  req: Request,
  res: Response,
): MaybePromise<string> {
  if (standardHeaders !== 'draft-8') return ''
  return typeof identifier === 'function' ? identifier(req, res) : identifier
}

function attach(req: Request, settings: CompatSettings, info: RateLimitInfo): void {
  const { requestPropertyName: name } = settings
  if (name === 'rateLimit') recordDecision(req as Request & { rateLimit?: unknown }, settings, info)
  else (req as unknown as Record<string, RateLimitInfo>)[name] = info
}

function setHeaders(
  { legacyHeaders: sendsLegacy, standardHeaders }: CompatSettings,
  check: Check,
  res: Response,
  quota: Quota,
): void {
  if (res.headersSent) return
  if (sendsLegacy) setAll(res, legacyHeaders(quota.info))
  if (!standardHeaders || !Object.hasOwn(draftHeaders, standardHeaders)) return
  if (standardHeaders !== 'draft-6') check('headersResetTime', quota.info.resetTime)
  const headers = draftHeaders[standardHeaders](quota)
  if (standardHeaders === 'draft-8') appendAll(res, headers)
  else setAll(res, headers)
}

/** Adds lines to headers that are lists: each limiter on a route has its own. */
function appendAll(res: Response, headers: HeaderList): void {
  eachHeader(headers, (name, value) => res.appendHeader(name, value))
}

async function deny(
  settings: CompatSettings,
  shown: Options,
  quota: Quota,
  [req, res, next]: HttpExchange,
): Promise<void> {
  const { legacyHeaders: sendsLegacy, standardHeaders, retryAfter, handler } = settings
  const passOn = res.headersSent ? next : withNoStore(res, next)
  if (sendsLegacy || standardHeaders) {
    const given = typeof retryAfter === 'function' ? await retryAfter(req, res) : retryAfter
    if (!res.headersSent) res.setHeader('Retry-After', (given ?? resetSeconds(quota)).toString())
  }
  await handler(req, res, passOn, shown)
}

/** Forbids caches to store a response. Returns a `next` that allows it again. */
function withNoStore(res: Response, next: NextFunction): NextFunction {
  const { withdraw } = presetDenial(nodeWriter, res, res.statusCode, NO_STORE)
  return (error) => {
    if (!error) withdraw()
    next(error)
  }
}
