import type { Fixes } from './fixes.js'
import { words } from './placements.js'

/**
 * Fixes, each with the options that it is for. The tables are functions, because bundlers would keep an
 * object with computed keys, even in a program without a limiter.
 */
type OptionsByFix = Readonly<Record<string, string>>

/**
 * What to write for options of express-rate-limit 8, express-slow-down 3 and rate-limiter-flexible 11, from
 * which most applications migrate. A fix of one word is the option to write. `docs/migrating/` says more,
 * and has tables for other packages.
 */
const packageFixes = (): OptionsByFix => ({
  limit: 'max points',
  window: 'windowMs duration',
  "Write policy: ban(policy, { after: 15, within: '1m', for: '15m' }).": 'blockDuration',
  key: 'keyGenerator',
  'Write key: byIp({ ipv6Prefix: 56 }).': 'ipv6Subnet',
  'Write key: byIp({ trustProxy: 1 }), with the number or the addresses of your proxies.': 'trustProxy',
  name: 'identifier keyPrefix',
  "Write count: 'successful' for skipFailedRequests, count: 'failed' for skipSuccessfulRequests.":
    'skipFailedRequests skipSuccessfulRequests',
  count: 'requestWasSuccessful',
  headers: 'standardHeaders legacyHeaders',
  onDenied: 'handler',
  "Write delay: requestDelay({ after: 5, by: '500ms', max: '10s' }).": 'delayAfter delayMs maxDelayMs',
  "Write store: redisStore(client), from 'headgate/redis', or the store of your database.": 'storeClient',
  onStoreError: 'passOnStoreError',
  fallbackShare: 'insuranceLimiter',
  denyCache: 'inMemoryBlockDuration inMemoryBlockOnConsumed',
  'Leave it out: headgate always does this.': 'retryAfter requestPropertyName validate',
  "Listen to 'denied' and 'storeError' with limiter.events.on.": 'onLimitReached logger',
})

/** What to write for options of policies and clients of stores that are passed as options of a limiter. */
const misplacedFixes = (): OptionsByFix => ({
  "Write policy: tokenBucket({ capacity: 100, refill: 100, every: '1m' }).": 'capacity refill every',
  "Write policy: fixedWindow({ limit: 100, window: '1m', startsAt: 'first-request' }).": 'startsAt',
  storeClient: 'redis client',
  'Write store: leased(redisStore(client), { processes: 8 }).': 'lease leased',
})

const policyNames = () =>
  words('tokenBucket fixedWindow slidingWindow slidingLog consecutive concurrency ban')

/** What to write for options of other packages. */
export const FOREIGN_OPTIONS: Fixes = /* @__PURE__ */ fixesOf(packageFixes)

/* @__NO_SIDE_EFFECTS__ */
function fixesOf(table: () => OptionsByFix): Fixes {
  const fixes = Object.entries(table()).flatMap(([fix, names]) => words(names).map((name) => [name, fix]))
  return Object.fromEntries(fixes)
}

/**
 * Returns fixes for options of other packages and of policies. `rateLimit` of the Fetch standard and Hono has
 * fewer, because they would be a large part of a Worker's bundle.
 */
/* @__NO_SIDE_EFFECTS__ */
export function foreignFixes(): Fixes {
  const factories = policyNames().map((name) => [name, `Write policy: ${name}({ … }).`])
  return { ...FOREIGN_OPTIONS, ...fixesOf(misplacedFixes), ...Object.fromEntries(factories) }
}
