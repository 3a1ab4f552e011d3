import type { Fixes } from './fixes.js'

const COUNT = "Write count: 'failed' or 'successful', or leave it out to count all responses."
const DENY_CACHE = "Write denyCache: '10s', or leave it out: denials are cached for a second."
const HEADERS = "Write headers: 'legacy', 'draft', 'both' or 'none'."
const NO_DELAYS = 'There is no equivalent: requests over the limit are denied, and never delayed.'

/** What to write for options of express-rate-limit 8, express-slow-down 3 and rate-limiter-flexible 11. */
export const FOREIGN_OPTIONS: Fixes = {
  // How much, and in which time.
  max: 'limit',
  points: 'limit',
  delayAfter: 'limit',
  windowMs: 'window',
  duration: "Write window with its unit, such as window: '1m'.",

  // Who is charged.
  keyGenerator: 'key',
  ipv6Subnet: 'Write key: byIp({ ipv6Prefix: 56 }).',
  trustProxy: 'Write key: byIp({ trustProxy: 1 }), with the number or the addresses of your proxies.',
  isWhiteListed: 'Write skip, which is called with (req, res).',
  whiteList: 'allow',
  blackList: 'block',

  // What counts.
  skipFailedRequests: COUNT,
  skipSuccessfulRequests: COUNT,
  requestWasSuccessful: 'Write count: (req, res) => true, a function that says whether a response counts.',
  blockDuration: "Write policy: ban(policy, { after: 5, within: '15m', for: ['15m', '1h'] }).",

  // What a client is sent.
  standardHeaders: HEADERS,
  legacyHeaders: HEADERS,
  retryAfter: 'Leave it out: Retry-After is always sent, with the exact time that the policy gives.',
  handler: 'Write onLimited, which is called with (req, res, next, decision).',
  delayMs: NO_DELAYS,
  maxDelayMs: NO_DELAYS,
  execEvenly: NO_DELAYS,

  // The store, and what happens without it.
  storeClient: "Write store: redisStore(client), from 'headgate/redis', or the store of your database.",
  tableName: 'Write store: mysqlStore(pool, { table }), or postgresStore with the same option.',
  passOnStoreError: "Write onStoreError: 'allow', 'deny' or 'local'.",
  insuranceLimiter: "Write onStoreError: 'local', which decides by the same policies in memory.",
  inMemoryBlockDuration: DENY_CACHE,
  inMemoryBlockOnConsumed: DENY_CACHE,

  // The set-up.
  identifier: 'name',
  keyPrefix: 'Write name, which keeps limiters apart.',
  requestPropertyName: 'Leave it out: the decision is always at req.rateLimit.',
  validate: 'Leave it out: options are always checked, and a wrong set-up is a process warning.',
  logger: "Listen to limiter.events.on('storeError', (error) => { … }), and log process warnings.",
  onLimitReached: "Listen to limiter.events.on('limited', (decision, req) => { … }).",
}

/** What to write for options of a policy that are given to a limiter. */
export const POLICY_OPTIONS: Fixes = {
  startsAt: "Write policy: fixedWindow({ limit: 100, window: '1h', startsAt: 'first-request' }).",
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
export function placementFixes(names: readonly string[], where: string): Fixes {
  return Object.fromEntries(names.map((name) => [name, `Write ${name} ${where}.`]))
}
