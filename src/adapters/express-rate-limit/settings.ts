import { isIPv6 } from 'node:net'
import type { Request, Response } from 'express'
import { isPatched, keepUncacheable } from '../../http/keep-uncacheable.js'
import { isStore } from '../../stores/shared/validate.js'
import { type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import { wrongOption } from '../../util/validate.js'
import { fieldsOf } from '../../util/values.js'
import { type Check, checksFor } from './checks.js'
import { DRAFTS } from './headers.js'
import { HitCounter, MemoryCounter } from './hit-counter.js'
import { ipKeyGenerator } from './ip-key-generator.js'
import { checkLimit, DAY, HOUR, MINUTE, numberOf, readWindow, SECOND } from './numbers.js'
import { readStore } from './store.js'
import type { DraftHeadersVersion, GivenOptions, Logger, Options, RateLimitInfo, Store } from './types.js'

export interface CompatSettings extends Options {
  /** A draft that does not exist sends no header but `Retry-After`. */
  standardHeaders: false | DraftHeadersVersion
  store: Store
}

/** The defaults of version 8. */
const DEFAULTS = {
  windowMs: MINUTE,
  limit: 5,
  message: 'Too many requests, please try again later.',
  statusCode: 429,
  legacyHeaders: true,
  standardHeaders: false,
  requestPropertyName: 'rateLimit',
  skipFailedRequests: false,
  skipSuccessfulRequests: false,
  requestWasSuccessful: (_request: Request, response: Response) => response.statusCode < 400,
  skip: () => false,
  ipv6Subnet: 56,
  passOnStoreError: false,
} as const

const CONSOLE: Logger = {
  error: (error, message) => console.error(...(message === undefined ? [error] : [message, error])),
  warn: (error, message) => console.warn(...(message === undefined ? [error] : [message, error])),
}

/** Reads the options of a limiter, and runs the checks of them. Throws a `TypeError` for wrong ones. */
export function readSettings(options: GivenOptions | null): { settings: CompatSettings; check: Check } {
  const entries = Object.entries(options ?? {}).filter(([, value]) => value !== undefined)
  const given: GivenOptions = Object.fromEntries(entries)
  const { limit = given.max ?? DEFAULTS.limit, windowMs: givenMs = DEFAULTS.windowMs } = given
  const windowMs = numberOf(givenMs)
  const countedMs = readWindow(givenMs)
  const logger = checkLogger(given.logger ?? CONSOLE)
  if (typeof limit !== 'function') checkLimit(limit)
  const { enabled, check } = checksFor(given.validate ?? true, logger)
  checkOptions(check, given, options ?? {})
  if (isMissing(given.store)) check('windowMs', givenMs)
  const settings: CompatSettings = {
    ...DEFAULTS,
    legacyHeaders: given.headers ?? DEFAULTS.legacyHeaders,
    identifier: (request) => defaultIdentifier(infoOf(request, settings), windowMs),
    keyGenerator: (request, response) => addressKey(request, response, settings, check),
    handler: (request, response) => sendMessage(request, response, settings),
    ...given,
    limit,
    windowMs,
    standardHeaders: draftOf(given.standardHeaders, check),
    store: storeOf(given, countedMs),
    validate: enabled,
    logger,
  }
  return { settings, check }
}

/** Returns the draft of the headers. The check reports one that does not exist. */
function draftOf(given: unknown, check: Check): CompatSettings['standardHeaders'] {
  if (!given) return false
  const version = given === true ? 'draft-6' : given
  if (!DRAFTS.some((draft) => draft === version)) check('headersDraftVersion', version)
  return version as DraftHeadersVersion
}

function checkLogger(logger: Logger): Logger {
  if (typeof logger === 'object' && typeof logger.error === 'function' && typeof logger.warn === 'function')
    return logger
  throw wrongOption('rateLimit', 'logger', 'an object with the methods error and warn', logger)
}

/** Runs the checks of options. Those that are `undefined` are passed, and not given. */
function checkOptions(check: Check, given: GivenOptions, passed: object): void {
  const { ipv6Subnet, keyGenerator, validate } = given
  const { draft_polli_ratelimit_headers: draftPolli, onLimitReached } = fieldsOf(given)
  check('validationsConfig', typeof validate === 'object' ? (validate ?? {}) : {})
  check('knownOptions', passed)
  check('draftPolliHeaders', draftPolli)
  check('onLimitReached', onLimitReached)
  if (ipv6Subnet !== undefined && typeof ipv6Subnet !== 'function') check('ipv6Subnet', ipv6Subnet)
  check('keyGeneratorIpFallback', keyGenerator)
  check('ipv6SubnetOrKeyGenerator', given)
}

/**
 * Returns the store to count in. A headgate store counts under the name that a string `identifier` gives.
 */
function storeOf({ store, identifier }: GivenOptions, windowMs: number): Store {
  if (isMissing(store)) return new MemoryCounter(windowMs)
  if (!isStore(store)) return readStore(store)
  return new HitCounter(store, windowMs, typeof identifier === 'string' ? identifier : undefined)
}

function isMissing(store: unknown): store is undefined | null {
  return store === undefined || store === null
}

/** Returns what a limiter attached to a request. */
export function infoOf(request: Request, { requestPropertyName }: CompatSettings): RateLimitInfo {
  return (request as unknown as Record<string, RateLimitInfo>)[requestPropertyName] as RateLimitInfo
}

/** The units of `identifier`, in milliseconds, largest first. */
const UNITS = [
  [DAY, 'day'],
  [HOUR, 'hr'],
  [MINUTE, 'min'],
  [SECOND, 'sec'],
] as const

/** Returns a policy's name, such as `5-in-1min` or `100-in-2days`. */
function defaultIdentifier({ limit }: RateLimitInfo, windowMs: number): string {
  const [unitMs, unit] = UNITS.find(([ms]) => windowMs >= ms) ?? [SECOND, 'sec']
  const count = windowMs / unitMs
  const isPlural = count > 1 && unitMs > MINUTE
  return `${limit}-in-${count}${unit}${isPlural ? 's' : ''}`
}

function addressKey(
  request: Request,
  response: Response,
  { ipv6Subnet }: CompatSettings,
  check: Check,
): MaybePromise<string> {
  const ip = request.ip as string
  check('ip', ip)
  check('trustProxy', request)
  check('xForwardedForHeader', request)
  check('forwardedHeader', request)
  if (typeof ipv6Subnet !== 'function') return ipKeyGenerator(ip, ipv6Subnet)
  if (!isIPv6(ip)) return ip
  return thenMaybe(ipv6Subnet(request, response), (subnet) => {
    check('ipv6Subnet', subnet)
    return ipKeyGenerator(ip, subnet)
  })
}

/** The default `handler`. A function as `message` may respond itself. */
async function sendMessage(
  req: Request,
  res: Response,
  { statusCode, message }: CompatSettings,
): Promise<void> {
  res.status(statusCode)
  const body = typeof message === 'function' ? await message(req, res) : message
  if (res.writableEnded) return
  if (isPatched(res)) keepUncacheable(res)
  res.send(body)
}
