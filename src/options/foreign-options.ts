import type { Fixes } from './fixes.js'

/**
 * Fixes, each with the options that it is for. The tables are functions, because bundlers would keep an
 * object with computed keys, even in a program without a limiter.
 */
type OptionsByFix = Readonly<Record<string, string>>

const TOKEN_BUCKET = "Write policy: tokenBucket({ capacity: 100, refill: 100, every: '1m' })."
const FIRST_REQUEST = "Write policy: fixedWindow({ limit: 100, window: '1m', startsAt: 'first-request' })."
const SLIDING_WINDOW = "Write policy: slidingWindow({ limit: 100, window: '1m' })."
const CONCURRENCY = 'Write policy: concurrency({ limit: 5 }).'
const BAN = "Write policy: ban(policy, { after: 15, within: '1m', for: '15m' })."
const STORE = "Write store: redisStore(client), from 'headgate/redis', or the store of your database."

/**
 * What to write for options of express-rate-limit 8, express-slow-down 3, rate-limiter-flexible 11,
 * @fastify/rate-limit 11, @nestjs/throttler 6, koa-ratelimit 6, hono-rate-limiter 0.5, @upstash/ratelimit 2
 * and bottleneck 2. A fix of one word is the option to write. The tables in `docs/migrating/` say more.
 */
const foreignFixes = (): OptionsByFix => ({
  limit: 'max points',
  window: 'windowMs timeWindow ttl duration',
  "Write limits: [{ name: 'short', limit: 3, window: '1s' }].": 'throttlers',
  [SLIDING_WINDOW]: 'limiter',
  [TOKEN_BUCKET]: 'minTime',
  [CONCURRENCY]: 'maxConcurrent',
  [FIRST_REQUEST]: 'reservoir reservoirRefreshAmount reservoirRefreshInterval',
  [BAN]: 'blockDuration continueExceeding exponentialBackoff blockOnConsumed',

  key: 'keyGenerator id getTracker generateKey',
  'Write key: byIp({ ipv6Prefix: 56 }).': 'ipv6Subnet ipv6SubnetPrefix',
  'Write key: byIp({ trustProxy: 1 }), with the number or the addresses of your proxies.': 'trustProxy',
  skip: 'isWhiteListed skipIf whitelist ignoreUserAgents',
  allow: 'whiteList',
  'Write allow for IP addresses and ranges, and skip for a function.': 'allowList',
  block: 'blackList blacklist enableProtection',
  'There is no equivalent: respond to such requests before the limiter.': 'isBlackListed',
  name: 'identifier',
  'Write name, which keeps limiters apart. Limiters with the same name and store share their counts.':
    'groupId keyPrefix',
  prefix: 'nameSpace namespace',

  "Write count: 'successful' for skipFailedRequests, count: 'failed' for skipSuccessfulRequests.":
    'skipFailedRequests skipSuccessfulRequests',
  count: 'requestWasSuccessful',
  "Write headers: 'legacy', 'draft', 'both' or 'none'.":
    'standardHeaders legacyHeaders setHeaders addHeaders addHeadersOnExceeding enableDraftSpec disableHeader',
  message: 'errorMessage',
  onDenied: 'handler throw errorResponseBuilder',
  "Write delay: { after: 5, by: '500ms', max: '10s' }.": 'delayAfter delayMs maxDelayMs',

  [STORE]: 'storeClient storage db driver binding tableName dbName schemaName',
  'Write store: memoryStore({ maxKeys: 100_000 }).': 'cache',
  "Write onStoreError: 'allow', 'deny' or 'local'.": 'passOnStoreError skipOnError',
  fallbackShare: 'insuranceLimiter',
  denyCache: 'inMemoryBlockDuration inMemoryBlockOnConsumed ephemeralCache',

  'There is no equivalent. To make clients wait, use delay in rateLimit, or limiter.waitFor(subject).':
    'execEvenly execEvenlyMinDelayMs',
  'Leave it out: the decision is always at req.rateLimit.':
    'requestPropertyName requestStorePropertyName onExceeding',
  'Leave it out: headgate always does this.': 'retryAfter validate useRedisPackage rejectIfRedisNotReady',
  "Listen to 'denied' and 'storeError' with limiter.events.on.":
    'onLimitReached onExceeded onBanReach logger',
})

/**
 * What to write for policies, their options and clients of stores that are passed as options of a limiter.
 */
const misplacedFixes = (): OptionsByFix => ({
  [TOKEN_BUCKET]: 'capacity refill every tokenBucket',
  [FIRST_REQUEST]: 'startsAt fixedWindow',
  [SLIDING_WINDOW]: 'slidingWindow',
  "Write policy: slidingLog({ limit: 5, window: '1m' }).": 'slidingLog',
  'Write policy: consecutive({ limit: 100 }).': 'consecutive',
  [CONCURRENCY]: 'concurrency',
  [BAN]: 'ban',
  [STORE]: 'redis client',
  'Write store: leased(redisStore(client), { processes: 8 }).': 'lease leased',
})

/** What to write for options of other packages. */
export const FOREIGN_OPTIONS: Fixes = /* @__PURE__ */ fixesOf(foreignFixes)

/* @__NO_SIDE_EFFECTS__ */
function fixesOf(table: () => OptionsByFix): Fixes {
  const fixes = Object.entries(table()).flatMap(([fix, names]) => names.split(' ').map((name) => [name, fix]))
  return Object.fromEntries(fixes)
}

/** The options that only `rateLimit` has. */
export const MIDDLEWARE_OPTIONS: readonly string[] = /* @__PURE__ */ words(
  'count actualCost delay headers resetFormat onDenied statusCode message',
)

/** The options that belong beside `limits`, not in each limit. */
export const BESIDE_LIMITS: readonly string[] = /* @__PURE__ */ words(
  'store prefix secret onStoreError fallbackShare denyCache timeout skip allow block mode candidate settings',
).concat(MIDDLEWARE_OPTIONS)

/* @__NO_SIDE_EFFECTS__ */
function words(text: string): readonly string[] {
  return text.split(' ')
}

/** Returns the fixes of a limiter's options, and one for each option that belongs elsewhere: `where`. */
/* @__NO_SIDE_EFFECTS__ */
export function limiterFixes(elsewhere: readonly string[] = [], where = ''): Fixes {
  const placements = elsewhere.map((name) => [name, `Write ${name} ${where}.`])
  return { ...FOREIGN_OPTIONS, ...fixesOf(misplacedFixes), ...Object.fromEntries(placements) }
}
