import type { Fixes } from './fixes.js'

const WINDOW = "Write window with its unit, such as window: '1m'."
const BAN = "Write policy: ban(policy, { after: 5, within: '15m', for: ['15m', '1h'] })."
const COUNT = "Write count: 'failed' or 'successful', or leave it out to count all responses."
const DENY_CACHE = "Write denyCache: '10s', or leave it out: denials are cached for a second."
const HEADERS = "Write headers: 'legacy', 'draft', 'both' or 'none'."
const IPV6_PREFIX = 'Write key: byIp({ ipv6Prefix: 56 }).'
const LISTEN = "Listen to limiter.events.on('limited', (decision, req) => { … })."
const MOUNT =
  "Mount the middleware: app.use(middleware) for all routes, app.get('/path', middleware) for one."
const NO_DELAYS = 'There is no equivalent: requests over the limit are denied, and never delayed.'
const ON_LIMITED = 'Write onLimited, which is called with (req, res, next, decision).'
const ON_STORE_ERROR = "Write onStoreError: 'allow', 'deny' or 'local'."
const SKIP = 'Write skip, which is called with (req, res).'
const STORE = 'Write store: redisStore(client), or the store of your database.'

/**
 * What to write in place of the options of express-rate-limit 8, express-slow-down 3,
 * rate-limiter-flexible 11, @nestjs/throttler 6 and @fastify/rate-limit 11.
 */
export const FOREIGN_OPTIONS: Fixes = {
  // How much, and in which time.
  max: 'limit',
  points: 'limit',
  delayAfter: 'limit',
  windowMs: 'window',
  timeWindow: WINDOW,
  ttl: WINDOW,
  duration: WINDOW,
  throttlers: 'Write limits: [{ name, policy: slidingWindow({ limit, window }) }].',

  // Who is charged.
  keyGenerator: 'key',
  getTracker: 'key',
  generateKey: 'key',
  ipv6Subnet: IPV6_PREFIX,
  ipv6SubnetPrefix: IPV6_PREFIX,
  trustProxy: 'Write key: byIp({ trustProxy: 1 }), with the number or the addresses of your proxies.',
  isWhiteListed: SKIP,
  skipIf: SKIP,
  ignoreUserAgents: SKIP,
  allowList: 'Write allow, an array of addresses, or skip, a function of (req, res).',
  whiteList: 'allow',
  whitelist: 'allow',
  blackList: 'block',
  blacklist: 'block',

  // What counts.
  skipFailedRequests: COUNT,
  skipSuccessfulRequests: COUNT,
  requestWasSuccessful: 'Write count: (req, res) => true, a function that says whether a response counts.',

  // Bans.
  blockDuration: BAN,
  ban: BAN,
  continueExceeding: BAN,
  exponentialBackoff: BAN,
  onBanReach: LISTEN,

  // What a client is sent.
  standardHeaders: HEADERS,
  legacyHeaders: HEADERS,
  enableDraftSpec: HEADERS,
  setHeaders: HEADERS,
  addHeaders: HEADERS,
  addHeadersOnExceeding: HEADERS,
  retryAfter: 'Leave it out: Retry-After is always sent, with the exact time that the policy gives.',
  handler: ON_LIMITED,
  errorResponseBuilder: ON_LIMITED,
  errorMessage: 'message',
  delayMs: NO_DELAYS,
  maxDelayMs: NO_DELAYS,
  execEvenly: NO_DELAYS,

  // Names.
  identifier: 'name',
  groupId: 'name',
  keyPrefix: 'Write name, which keeps limiters apart.',
  nameSpace: 'prefix',
  requestPropertyName: 'Leave it out: the decision is always at req.rateLimit.',

  // The store, and what happens without it.
  storeClient: STORE,
  redis: STORE,
  storage: STORE,
  tableName: 'Write store: mysqlStore(pool, { table }), or postgresStore with the same option.',
  cache: 'Write store: memoryStore({ maxKeys: 5000 }).',
  passOnStoreError: ON_STORE_ERROR,
  skipOnError: ON_STORE_ERROR,
  insuranceLimiter: "Write onStoreError: 'local', which decides by the same policies in memory.",
  inMemoryBlockDuration: DENY_CACHE,
  inMemoryBlockOnConsumed: DENY_CACHE,

  // The set-up.
  validate: 'Leave it out: options are always checked, and a wrong set-up is a process warning.',
  logger: "Listen to limiter.events.on('storeError', (error) => { … }), and log process warnings.",
  hook: MOUNT,
  global: MOUNT,
  onLimitReached: LISTEN,
  onExceeded: LISTEN,
}

/** The options that only `rateLimit` has. */
export const MIDDLEWARE_OPTIONS: readonly string[] = [
  ...['skip', 'allow', 'block', 'count', 'headers', 'resetFormat'],
  ...['onLimited', 'statusCode', 'message', 'mode'],
]

/** The options that stand beside `limits`, not in each limit. */
export const BESIDE_LIMITS: readonly string[] = [
  ...['store', 'prefix', 'secret', 'onStoreError', 'share', 'denyCache', 'lease', 'timeoutMs'],
  ...MIDDLEWARE_OPTIONS,
]

/** Returns the fixes for options that stand elsewhere, such as `beside limits`. */
export function elsewhere(names: readonly string[], where: string): Fixes {
  return Object.fromEntries(names.map((name) => [name, `Write ${name} ${where}.`]))
}
