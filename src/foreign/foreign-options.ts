import { keyNameLike } from '../checks.js'
import {
  addHeaders,
  blockDuration,
  counting,
  type Equivalent,
  ipv6Prefix,
  isFunction,
  key,
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
} from './equivalents.js'
import { none, SAME, write } from './hint.js'
import { isNumber, lengthText, policyHint } from './quota.js'

const NO_DELAYS =
  'headgate denies what is over the limit, with the exact Retry-After, and never delays a request'
const OWN_TABLE = 'headgate makes its own table: await store.prepare()'
const OWN_SCRIPT = 'the store sends a script of its own, which decides all policies'
const ONE_CLIENT = 'redisStore(client) takes an ioredis client, and it alone'
const EVENTS = "limiter.events emits 'limited' with the decision and the request"

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
  limit: (value, given) => (isFunction(value) ? policyHint(given) : undefined),
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
      : none('headers call a limit by its name, which is fixed: name'),
  retryAfter: 'Retry-After is computed from the policy and exact',
  requestPropertyName: 'the decision is always at req.rateLimit',
  skipFailedRequests: counting,
  skipSuccessfulRequests: counting,
  requestWasSuccessful: counting,
  keyGenerator: key,
  ipv6Subnet: ipv6Prefix,
  handler: onLimited,
  onLimitReached: EVENTS,
  skip: () => undefined,
  store,
  validate: 'options are always checked, and set-ups that cannot be right are reported as process warnings',
  passOnStoreError: onStoreError,
  logger:
    "there is nothing to log to: limiter.events emits 'storeError', and set-ups that cannot be right are process warnings",

  // express-slow-down
  delayAfter: NO_DELAYS,
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
  storeType: 'each store has a factory of its own: redisStore, mysqlStore, postgresStore, memcachedStore',
  inMemoryBlockOnConsumed: 'a denial by a remote store is cached anyway: denyCache',
  inMemoryBlockDuration: (value) =>
    isNumber(value) && value > 0
      ? write({ denyCache: lengthText(value, 1000) })
      : none('denials are cached anyway: denyCache'),
  blockOnConsumed: 'a denial by a remote store is cached anyway: denyCache',
  dbName:
    'the database is that of the pool, or goes before the name of the table: mysqlStore(pool, { table })',
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
  clearExpiredByTimeout: 'expired rows are removed without a timer, in small batches',
  schema: OWN_TABLE,
  schemaName: 'the schema goes before the name of the table: postgresStore(pool, { table })',
  indexKeyPrefix: 'MongoDB is no store of headgate',
  disableIndexesCreation: 'MongoDB is no store of headgate',
  dynamoTableOpts: 'DynamoDB is no store of headgate',
  ttlSet: 'DynamoDB is no store of headgate',
  rejectIfRedisNotReady: 'a charge fails at once while the client is not connected, and onStoreError decides',
  rejectIfValkeyNotReady:
    'a charge fails at once while the client is not connected, and onStoreError decides',
  useRedisPackage: ONE_CLIENT,
  useRedis3AndLowerPackage: ONE_CLIENT,
  customIncrTtlLuaScript: OWN_SCRIPT,
  customFunction: OWN_SCRIPT,
  customFunctionLibName: OWN_SCRIPT,
  limiter: 'options are given to one limiter, and nothing has to be wrapped',
  blackList: list('block'),
  whiteList: list('allow'),
  isBlackListed: list('block'),
  isWhiteListed: skip,
  runActionAnyway: 'requests of allow and block are never counted',
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
  getTracker: key,
  generateKey: key,
  setHeaders: (value) => write({ headers: value === false ? "'none'" : "'legacy'" }),
  errorMessage: (value) => (isFunction(value) ? onLimited(value, {}) : write({ message: SAME })),
  storage: storeClient,
  ipv6SubnetPrefix: ipv6Prefix,

  // @fastify/rate-limit
  hook: 'a middleware runs where it is mounted: app.use(rateLimit(options)) before the handlers',
  global: 'a middleware runs where it is mounted: app.use for all routes, or as an argument of one route',
  cache: (value) =>
    write({ store: `memoryStore({ maxKeys: ${isNumber(value) && value > 0 ? value : 5000} })` }),
  redis: storeClient,
  nameSpace: prefix,
  groupId: (value) =>
    write({ name: `'${keyNameLike(value)}'` }, ', which limiters share that count together'),
  skipOnError: onStoreError,
  allowList: list('allow'),
  ban: policy,
  continueExceeding: (value, given) =>
    value === true
      ? policy(value, given)
      : none('a denied request changes nothing unless the policy is a ban'),
  exponentialBackoff: (value, given) =>
    value === true ? policy(value, given) : none('times of denial grow only where the policy is a ban'),
  onExceeding: EVENTS,
  onExceeded: EVENTS,
  onBanReach: EVENTS,
  errorResponseBuilder: onLimited,
  enableDraftSpec: (value) => write({ headers: value === false ? "'legacy'" : "'draft'" }),
  addHeaders,
  addHeadersOnExceeding: 'all responses carry the same headers: headers',

  // Words of other middleware.
  trustProxy: () =>
    write({ key: "byIp({ trustProxy: 'loopback' })" }, ", or app.set('trust proxy', 1) in Express"),
  whitelist: list('allow'),
  blacklist: list('block'),
  timeout: (value) => write({ timeoutMs: isNumber(value) && value >= 1 && value <= 60_000 ? SAME : '100' }),
}
