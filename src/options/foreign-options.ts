import type { Fixes } from './fixes.js'

const COUNT = "Write count: 'successful' for skipFailedRequests, count: 'failed' for skipSuccessfulRequests."
const DENY_CACHE = "Write denyCache: '10s', or leave it out: by default, denials are cached for one second."
const NOT_SPREAD =
  'There is no equivalent. ' +
  'Use the option delay of rateLimit, or limiter.waitFor(subject), which waits until a charge is allowed.'
const HEADERS = "Write headers: 'legacy', 'draft', 'both' or 'none'."
const DELAY = "Write delay: { after: 5, by: '500ms', max: '10s' }."
const SKIP = 'Write skip, which is called with (req, res) or, in createLimiter, with the subject.'
const STORE = "Write store: redisStore(client), from 'headgate/redis', or the store of your database."
const LEASED = 'Write store: leased(redisStore(client), { processes: 8 }).'
const TOKEN_BUCKET = "Write policy: tokenBucket({ capacity: 100, refill: 100, every: '1m' })."
const OWN_CLIENT =
  'Leave it out: redisStore recognizes the client, and fails at once when its connection is lost.'
const prefixFix = (bits: unknown, usual: number) =>
  `Write key: byIp({ ipv6Prefix: ${Number.isInteger(bits) ? bits : usual} }).`
const concurrencyFix = (limit: unknown) =>
  `Write policy: concurrency({ limit: ${Number.isInteger(limit) ? limit : 5} }).`
const DECISION_PLACE = 'Leave it out: the decision is always at req.rateLimit.'
const STORE_ERROR = "Write onStoreError: 'allow', 'deny' or 'local'."
const BAN = "Write policy: ban(policy, { after: 15, within: '1m', for: '15m' })."
const ON_DENIED = "Listen to limiter.events.on('denied', (decision, req) => { … })."
const RESERVOIR = "Write policy: fixedWindow({ limit: 100, window: '1m', startsAt: 'first-request' })."
const TABLE = 'Write store: mysqlStore(pool, { table }), or postgresStore with the same option.'

/**
 * What to write for options of express-rate-limit 8, express-slow-down 3, rate-limiter-flexible 11,
 * @fastify/rate-limit 11, @nestjs/throttler 6, koa-ratelimit 6, hono-rate-limiter 0.5, @upstash/ratelimit 2
 * and bottleneck 2. `docs/migrating/` has the same in tables.
 */
export const FOREIGN_OPTIONS: Fixes = {
  // How much, and in which time.
  max: 'limit',
  points: 'limit',
  windowMs: 'window',
  timeWindow: 'window',
  ttl: 'window',
  duration: "Write window with its unit, such as window: '1m'.",
  limiter: "Write policy: slidingWindow({ limit: 10, window: '10s' }).",
  minTime: "Write policy: tokenBucket({ capacity: 1, refill: 1, every: '200ms' }).",
  maxConcurrent: concurrencyFix,
  reservoir: RESERVOIR,
  reservoirRefreshAmount: RESERVOIR,
  reservoirRefreshInterval: RESERVOIR,
  throttlers: "Write limits: [{ name: 'short', limit: 3, window: '1s' }].",

  // Who is charged.
  keyGenerator: 'key',
  id: 'key',
  getTracker: 'key',
  generateKey: 'Write key: [byIp(), byRoute()].',
  ipv6Subnet: (bits) => prefixFix(bits === false ? 128 : bits, 56),
  ipv6SubnetPrefix: (bits) => prefixFix(bits, 64),
  trustProxy: 'Write key: byIp({ trustProxy: 1 }), with the number or the addresses of your proxies.',
  isWhiteListed: SKIP,
  skipIf: SKIP,
  whitelist: SKIP,
  ignoreUserAgents: SKIP,
  whiteList: 'allow',
  blackList: 'block',
  allowList: 'Write allow for IP addresses and ranges, and skip for a function.',
  groupId: "Write name: 'login' and the same store in each route, so that they share their counts.",
  blacklist: 'Write block for IP addresses and ranges. To deny other requests, respond before the limiter.',
  enableProtection: 'Write block for IP addresses and ranges.',
  isBlackListed:
    'There is no equivalent: respond to such requests before the limiter. For IP addresses, write block.',

  // What counts.
  skipFailedRequests: COUNT,
  skipSuccessfulRequests: COUNT,
  requestWasSuccessful: 'Write count, a function that says whether a response counts.',
  blockDuration: "Write policy: ban(policy, { after: 1, within: '1m', for: '15m' }).",
  continueExceeding: BAN,
  exponentialBackoff: BAN,
  blockOnConsumed: BAN,

  // What a client is sent.
  standardHeaders: HEADERS,
  legacyHeaders: HEADERS,
  setHeaders: HEADERS,
  addHeaders: HEADERS,
  addHeadersOnExceeding: HEADERS,
  enableDraftSpec: HEADERS,
  disableHeader: HEADERS,
  retryAfter: 'Leave it out: Retry-After is always sent, with the exact time.',
  handler: 'onDenied',
  errorMessage: 'message',
  requestPropertyName: DECISION_PLACE,
  requestStorePropertyName: DECISION_PLACE,
  onExceeding: DECISION_PLACE,
  errorResponseBuilder: 'Write message for a fixed body, or onDenied, which is called with the decision.',
  throw: 'Write onDenied, which may throw.',
  delayAfter: DELAY,
  delayMs: DELAY,
  maxDelayMs: DELAY,
  execEvenly: NOT_SPREAD,
  execEvenlyMinDelayMs: NOT_SPREAD,

  // The store, and what happens without it.
  storeClient: STORE,
  storage: STORE,
  db: STORE,
  driver: STORE,
  binding: STORE,
  cache: 'Write store: memoryStore({ maxKeys: 100_000 }).',
  tableName: TABLE,
  dbName: TABLE,
  schemaName: TABLE,
  useRedisPackage: OWN_CLIENT,
  rejectIfRedisNotReady: OWN_CLIENT,
  passOnStoreError: STORE_ERROR,
  skipOnError: STORE_ERROR,
  insuranceLimiter:
    'Write fallbackShare: 1 / 4 for four processes. While the store fails, the same policies apply in memory.',
  inMemoryBlockDuration: DENY_CACHE,
  inMemoryBlockOnConsumed: DENY_CACHE,
  ephemeralCache: DENY_CACHE,

  // The set-up.
  identifier: 'name',
  keyPrefix: 'Write name, which keeps limiters apart.',
  nameSpace: 'prefix',
  namespace: 'prefix',
  validate: 'Leave it out: options are always checked, and mistakes in the set-up cause process warnings.',
  logger: "Listen to limiter.events.on('storeError', (error) => { … }), and log process warnings.",
  onLimitReached: ON_DENIED,
  onExceeded: ON_DENIED,
  onBanReach: ON_DENIED,
}

/**
 * What to write for policies, their options and clients of stores that are given to a limiter as options.
 */
const MISPLACED_OPTIONS: Fixes = {
  startsAt: "Write policy: fixedWindow({ limit: 100, window: '1h', startsAt: 'first-request' }).",
  concurrency: concurrencyFix,
  capacity: TOKEN_BUCKET,
  refill: TOKEN_BUCKET,
  every: TOKEN_BUCKET,
  tokenBucket: TOKEN_BUCKET,
  slidingWindow: "Write policy: slidingWindow({ limit: 100, window: '1m' }).",
  slidingLog: "Write policy: slidingLog({ limit: 5, window: '1m' }).",
  fixedWindow: "Write policy: fixedWindow({ limit: 100, window: '1m' }).",
  consecutive: 'Write policy: consecutive({ limit: 100 }).',
  ban: BAN,
  redis: STORE,
  client: STORE,
  lease: LEASED,
  leased: LEASED,
}

/** The options that only `rateLimit` has. */
export const MIDDLEWARE_OPTIONS: readonly string[] = /* @__PURE__ */ words(
  'count actualCost delay headers resetFormat onDenied statusCode message',
)

/** The options that stand beside `limits`, not in each limit. */
export const BESIDE_LIMITS: readonly string[] = /* @__PURE__ */ words(
  'store prefix secret onStoreError fallbackShare denyCache timeout skip allow block mode candidate settings',
).concat(MIDDLEWARE_OPTIONS)

/* @__NO_SIDE_EFFECTS__ */
function words(text: string): readonly string[] {
  return text.split(' ')
}

/** Returns the fixes of a limiter's options, and those for options that stand elsewhere: `where`. */
/* @__NO_SIDE_EFFECTS__ */
export function limiterFixes(elsewhere: readonly string[] = [], where = ''): Fixes {
  const placements = elsewhere.map((name) => [name, `Write ${name} ${where}.`])
  return { ...FOREIGN_OPTIONS, ...MISPLACED_OPTIONS, ...Object.fromEntries(placements) }
}
