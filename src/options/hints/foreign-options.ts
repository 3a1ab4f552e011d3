import { keyNameLike } from '../../util/validate.js'
import {
  addHeaders,
  banAfter,
  blockDuration,
  counting,
  type Equivalent,
  ipv6Prefix,
  isFunction,
  key,
  keyOfRequest,
  list,
  onLimited,
  onStoreError,
  policy,
  prefix,
  rateLimitHeaders,
  skip,
  store,
  storeClient,
  throttlers,
  trustProxy,
} from './equivalents.js'
import { advise, none, SAME, write } from './hint.js'
import { policyHint } from './policy-source.js'
import { noQuota } from './quota.js'
import { lengthSource, placeholderNote, toNumber } from './source.js'

const NO_DELAYS = 'headgate denies requests that are over the limit, and never delays them'
const OWN_TABLE = 'await store.prepare() creates the table where it does not exist yet'
const OWN_SCRIPT = 'redisStore runs its own scripts, which cannot be replaced'
const ONE_CLIENT = 'redisStore(client) takes a client of ioredis, and of no other package'
const cachingDenials = write({ denyCache: "'1s'" }, ', which is the default')
const onDenial = advise("Listen to limiter.events.on('limited', (decision, req) => { … }).")

/**
 * The options of express-rate-limit 8, express-slow-down 3, rate-limiter-flexible 11, @nestjs/throttler 6
 * and @fastify/rate-limit 11, and some of their earlier versions: the nearest equivalent for the value
 * given, or why there is none.
 */
export const FOREIGN_OPTIONS: Readonly<Record<string, Equivalent | string>> = {
  // How much, and in which time. The same words are used with different units: see quota.ts.
  windowMs: policy,
  max: policy,
  points: policy,
  duration: policy,
  ttl: policy,
  timeWindow: policy,
  limit: (value, given) => (isFunction(value) ? policyHint(given) : noQuota(given)),
  throttlers,

  // express-rate-limit
  message: (value) => (isFunction(value) ? onLimited(value, {}) : undefined),
  statusCode: () => undefined,
  legacyHeaders: rateLimitHeaders,
  standardHeaders: rateLimitHeaders,
  draft_polli_ratelimit_headers: rateLimitHeaders,
  headers: (value, given) => (typeof value === 'boolean' ? rateLimitHeaders(value, given) : undefined),
  identifier: (value) =>
    typeof value === 'string'
      ? write({ name: `'${keyNameLike(value)}'` })
      : none('a limit has one name for all requests, its option name'),
  retryAfter: 'the header Retry-After is always sent, with the exact time that the policy gives',
  requestPropertyName: 'the decision is always found at req.rateLimit',
  skipFailedRequests: counting,
  skipSuccessfulRequests: counting,
  requestWasSuccessful: counting,
  keyGenerator: key,
  ipv6Subnet: ipv6Prefix,
  handler: onLimited,
  onLimitReached: () => onDenial,
  skip: () => undefined,
  store,
  validate: 'headgate always checks its options, and warns of a wrong set-up with process warnings',
  passOnStoreError: onStoreError,
  logger: () =>
    advise("Listen to limiter.events.on('storeError', (error) => { … }), and log process warnings."),

  // express-slow-down
  delayAfter: policy,
  delayMs: NO_DELAYS,
  maxDelayMs: NO_DELAYS,

  // rate-limiter-flexible
  keyPrefix: prefix,
  execEvenly: NO_DELAYS,
  execEvenlyMinDelayMs: NO_DELAYS,
  blockDuration,
  insuranceLimiter: () =>
    write({ onStoreError: "'local'" }, ', which decides by the same policies in memory'),
  storeClient,
  storeType: 'each database has a store of its own, such as redisStore(client) and postgresStore(pool)',
  inMemoryBlockOnConsumed: () => cachingDenials,
  inMemoryBlockDuration: (value) => {
    if (toNumber(value) === 0 || isFunction(value)) return cachingDenials
    const length = lengthSource(value, 1000, 'DURATION')
    return write({ denyCache: length.text }, placeholderNote([length]))
  },
  blockOnConsumed: () => cachingDenials,
  dbName: () =>
    advise(
      "Make the pool with it, or write it before the table: mysqlStore(pool, { table: 'limits.headgate' }).",
    ),
  tableName: (value) =>
    write(
      {
        store: `mysqlStore(pool, { table: '${keyNameLike(value)
          .replace(/^\d|[.-]/g, '_')
          .slice(0, 51)}' })`,
      },
      ', or postgresStore with the same option',
    ),
  tableCreated: OWN_TABLE,
  clearExpiredByTimeout: 'the store removes expired rows by itself, in small batches',
  schema: OWN_TABLE,
  schemaName: () =>
    advise("Write the schema before the table: postgresStore(pool, { table: 'limits.headgate' })."),
  indexKeyPrefix: 'headgate has no store for MongoDB',
  disableIndexesCreation: 'headgate has no store for MongoDB',
  dynamoTableOpts: 'headgate has no store for DynamoDB',
  ttlSet: 'headgate has no store for DynamoDB',
  rejectIfRedisNotReady: 'onStoreError decides at once while the client is not connected',
  rejectIfValkeyNotReady: 'onStoreError decides at once while the client is not connected',
  useRedisPackage: ONE_CLIENT,
  useRedis3AndLowerPackage: ONE_CLIENT,
  customIncrTtlLuaScript: OWN_SCRIPT,
  customFunction: OWN_SCRIPT,
  customFunctionLibName: OWN_SCRIPT,
  limiter: 'all options go into one limiter, which wraps no other',
  blackList: list('block'),
  whiteList: list('allow'),
  isBlackListed: list('block'),
  isWhiteListed: skip,
  runActionAnyway: 'requests from the addresses in allow and block are never counted',
  maxQueueSize: NO_DELAYS,
  timeoutMs: () => undefined,

  // @nestjs/throttler
  name: () => undefined,
  ignoreUserAgents: () =>
    write(
      { skip: "(req) => /bot/i.test(req.headers['user-agent'] ?? '')" },
      ', with expressions of your own: clients choose their user agent',
    ),
  skipIf: skip,
  getTracker: keyOfRequest,
  generateKey: keyOfRequest,
  setHeaders: (value) => write({ headers: value === false ? "'none'" : "'legacy'" }),
  errorMessage: (value) => (isFunction(value) ? onLimited(value, {}) : write({ message: SAME })),
  storage: storeClient,
  ipv6SubnetPrefix: ipv6Prefix,

  // @fastify/rate-limit
  hook: () =>
    advise('Mount the middleware before the handlers that it protects: app.use(rateLimit(options)).'),
  global: () =>
    advise("Mount the middleware with app.use for all routes, or with app.get('/path', middleware) for one."),
  cache: (value, given) => {
    if (given.redis !== undefined) return storeClient(value, given)
    const maxKeys = toNumber(value) ?? 0
    return write({ store: maxKeys > 0 ? `memoryStore({ maxKeys: ${maxKeys} })` : 'memoryStore()' })
  },
  redis: storeClient,
  nameSpace: prefix,
  groupId: (value) => ({
    ...write({ name: `'${keyNameLike(value)}'` }),
    offer: { needs: ['prefix'], text: ', which limiters share that count together' },
  }),
  skipOnError: onStoreError,
  allowList: list('allow'),
  ban: banAfter,
  continueExceeding: (value, given) =>
    value === true
      ? policy(value, given)
      : advise('Leave it out: a denied request changes nothing unless the policy is a ban.'),
  exponentialBackoff: (value, given) =>
    value === true
      ? policy(value, given)
      : advise('Leave it out: times of denial grow only where the policy is a ban.'),
  onExceeding: 'req.rateLimit says how much is left, and no event is emitted for it',
  onExceeded: () => onDenial,
  onBanReach: () => onDenial,
  errorResponseBuilder: onLimited,
  enableDraftSpec: (value) => write({ headers: value === false ? "'legacy'" : "'draft'" }),
  addHeaders,
  addHeadersOnExceeding: 'allowed and denied requests get the same headers, which the option headers chooses',

  // Words of other middleware.
  trustProxy,
  whitelist: list('allow'),
  blacklist: list('block'),
  timeout: (value) => {
    const timeoutMs = toNumber(value) ?? 0
    if (timeoutMs >= 1 && timeoutMs <= 60_000) return write({ timeoutMs: String(timeoutMs) })
    return advise('Write timeoutMs, a number of milliseconds from 1 to 60000.')
  },
}
