import type { NextFunction, Request, Response } from 'express'
import type { HeaderList } from '../../http/headers.js'
import { recordPassage } from '../../http/passage.js'
import { setAll } from '../../http/respond.js'
import { isPromise } from '../../util/maybe-promise.js'
import type { Check } from './checks.js'
import { draftHeaders, legacyHeaders, type Quota, resetSeconds } from './headers.js'
import { refundSkipped } from './refunds.js'
import { readSettings, type Settings } from './settings.js'
import type { GivenOptions, IncrementResponse, RateLimitInfo, RateLimitRequestHandler } from './types.js'

type Exchange = readonly [Request, Response, NextFunction]

/**
 * Creates middleware with the options, the headers and the answers of express-rate-limit 8. It counts in a
 * store of express-rate-limit, or in one of headgate.
 *
 * Throws a `TypeError` for options that cannot work. Other mistakes are logged, as `validate` says.
 */
export function rateLimit(options: GivenOptions = {}): RateLimitRequestHandler {
  const { settings, check } = readSettings(options)
  const { store } = settings
  check('creationStack')
  check('unsharedStore', store)
  initStore(settings)

  function rateLimitMiddleware(req: Request, res: Response, next: NextFunction): void {
    limitRequest(settings, check, [req, res, next]).catch(next)
  }

  return Object.assign(rateLimitMiddleware, {
    resetKey: store.resetKey.bind(store),
    getKey: store.get?.bind(store) ?? withoutGet,
  })
}

function withoutGet(): never {
  throw new Error('rateLimit: getKey requires a store with a get method, which this store does not have.')
}

function initStore({ store, ...rest }: Settings): void {
  const report = (error: unknown) => rest.logger.error(error, 'rateLimit: the store failed to initialize.')
  try {
    store.init?.({ store, ...rest })?.catch(report)
  } catch (error) {
    report(error)
  }
}

/** Counts a request, and passes it on or answers it: in the same tick where nothing returns a promise. */
async function limitRequest(settings: Settings, check: Check, exchange: Exchange): Promise<void> {
  const [req, res, next] = exchange
  const { store, skip, keyGenerator, limit: givenLimit, windowMs, identifier } = settings
  const skips = skip(req, res)
  if (isPromise(skips) ? await skips : skips) return next()

  const givenKey = keyGenerator(req, res)
  const key = isPromise(givenKey) ? await givenKey : givenKey
  let hit: IncrementResponse
  try {
    const counted = store.increment(key)
    hit = isPromise(counted) ? await counted : counted
  } catch (error) {
    if (!settings.passOnStoreError) throw error
    settings.logger.error(error, 'rateLimit: the store failed, so this request passes uncounted.')
    return next()
  }
  check('positiveHits', hit.totalHits)
  check('singleCount', req, store, key)

  const limits = typeof givenLimit === 'function' ? givenLimit(req, res) : givenLimit
  const limit = isPromise(limits) ? await limits : limits
  check('limit', limit)
  const info = new HitInfo(limit, hit, key)
  attach(req, settings, info)

  const isNamed = settings.standardHeaders === 'draft-8'
  const names = isNamed && typeof identifier === 'function' ? identifier(req, res) : identifier
  const quota = { info, windowMs, name: (isPromise(names) ? await names : names) as string }
  setHeaders(settings, check, res, quota)
  refundSkipped(settings, exchange, key, hit)
  if (hit.totalHits > limit) return deny(settings, quota, exchange)
  next()
}

/** What a request carries of its limit. */
class HitInfo implements RateLimitInfo {
  readonly limit: number
  readonly used: number
  readonly remaining: number
  readonly resetTime: Date | undefined
  readonly key: string

  constructor(limit: number, { totalHits, resetTime }: IncrementResponse, key: string) {
    this.limit = limit
    this.used = totalHits
    this.remaining = Math.max(limit - totalHits, 0)
    this.resetTime = resetTime
    this.key = key
  }

  /** An older name of `used`, which is not enumerable. */
  get current(): number {
    return this.used
  }
}

function attach(req: Request, settings: Settings, info: RateLimitInfo): void {
  const { requestPropertyName: name } = settings
  if (name === 'rateLimit') recordPassage(req as Request & { rateLimit?: unknown }, settings, info)
  else (req as unknown as Record<string, RateLimitInfo>)[name] = info
}

function setHeaders(
  { legacyHeaders: sendsLegacy, standardHeaders }: Settings,
  check: Check,
  res: Response,
  quota: Quota,
): void {
  if (res.headersSent) return
  if (sendsLegacy) setAll(res, legacyHeaders(quota.info))
  if (!standardHeaders) return
  if (standardHeaders !== 'draft-6') check('headersResetTime', quota.info.resetTime)
  const headers = draftHeaders[standardHeaders](quota)
  if (standardHeaders === 'draft-8') appendAll(res, headers)
  else setAll(res, headers)
}

/** Adds lines to headers that are lists: each limiter on a route has its own. */
function appendAll(res: Response, headers: HeaderList): void {
  for (let i = 0; i < headers.length; i += 2) res.appendHeader(headers[i] as string, headers[i + 1] as string)
}

async function deny(settings: Settings, quota: Quota, [req, res, next]: Exchange): Promise<void> {
  const { legacyHeaders: sendsLegacy, standardHeaders, retryAfter, handler } = settings
  if (sendsLegacy || standardHeaders) {
    const seconds =
      (typeof retryAfter === 'function' ? await retryAfter(req, res) : retryAfter) ?? resetSeconds(quota)
    if (!res.headersSent) res.setHeader('Retry-After', seconds.toString())
  }
  await handler(req, res, next, settings)
}
