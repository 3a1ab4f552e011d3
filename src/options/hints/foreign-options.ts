import { suggestName } from '../../util/validate.js'
import { advise, explain, type Given, type Hint, lengthText, rename, SAME, toNumber, write } from './hint.js'

/** A hint, or what makes it of the value given and the options beside it. */
type Entry = Hint | ((value: unknown, given: Given) => Hint)

const BOTH = ' in place of limit and window'
const COUNT_ALL = advise('Leave it out: all responses count unless the option count says otherwise.')
const HEADERS = advise("Choose a style with headers: 'legacy', 'draft', 'both' or 'none'.")
const NO_DELAYS = explain('headgate denies requests that are over the limit, and never delays them')
const ON_DENIAL = advise("Listen to limiter.events.on('limited', (decision, req) => { … }).")
const ON_LIMITED = rename('onLimited', ', which is called with (req, res, next, decision)')
const REDIS_STORE = write({ store: 'redisStore(client)' }, ', or the store of your database')
const SKIP = rename('skip', ', which is called with (req, res)')

/**
 * What to write in place of the options of express-rate-limit 8, express-slow-down 3,
 * rate-limiter-flexible 11, @nestjs/throttler 6 and @fastify/rate-limit 11, or why there is nothing to
 * write. `limit`, `window`, `name` and `ttl` in a source text stand for the user's own values.
 */
export const FOREIGN_OPTIONS: Readonly<Record<string, Entry>> = {
  // How much, and in which time.
  max: rename('limit'),
  points: rename('limit'),
  delayAfter: rename('limit', ', which denies what is over it'),
  windowMs: (ms) => windowHint(ms, 1),
  timeWindow: (ms) => windowHint(ms, 1),
  ttl: (ms) => windowHint(ms, toNumber(ms) < 1000 ? 1000 : 1), // seconds before @nestjs/throttler 5
  duration: (seconds) =>
    toNumber(seconds) === 0 ? write({ policy: 'consecutive({ limit })' }, BOTH) : windowHint(seconds, 1000),
  throttlers: write(
    { limits: '[{ name, policy: slidingWindow({ limit, window: ttl }) }]' },
    ', with an entry for each of them',
  ),

  // Who is charged.
  keyGenerator: rename('key'),
  getTracker: rename('key', ', which is called with (req)'),
  generateKey: rename('key', ', which is called with (req)'),
  ipv6Subnet: ipv6Hint,
  ipv6SubnetPrefix: ipv6Hint,
  trustProxy: write({ key: 'byIp({ trustProxy })' }, ', with the number or the addresses of your proxies'),
  isWhiteListed: SKIP,
  skipIf: SKIP,
  allowList: (list) => (typeof list === 'function' ? SKIP : rename('allow')),
  whiteList: rename('allow'),
  whitelist: rename('allow'),
  blackList: rename('block'),
  blacklist: rename('block'),
  ignoreUserAgents: write(
    { skip: "(req) => /bot/i.test(req.headers['user-agent'] ?? '')" },
    ', with expressions of your own: clients choose their user agent',
  ),

  // What counts.
  skipFailedRequests: (isOn) => (isOn === true ? write({ count: "'successful'" }) : COUNT_ALL),
  skipSuccessfulRequests: (isOn) => (isOn === true ? write({ count: "'failed'" }) : COUNT_ALL),
  requestWasSuccessful: rename('count', ', which returns whether a response counts'),

  // Bans.
  blockDuration: (value, { ttl }) =>
    banHint(toNumber(value) !== 0, `for: ${lengthText(value, ttl === undefined ? 1000 : 1) ?? 'window'}`),
  ban: (denials) => banHint(toNumber(denials) >= 0, 'for: window', toNumber(denials)),
  continueExceeding: (isOn) => banHint(isOn === true, "for: window, onAttempt: 'restart'"),
  exponentialBackoff: (isOn) => banHint(isOn === true, "for: ['1m', '2m', '4m', '8m']"),
  onBanReach: ON_DENIAL,

  // What a client is sent.
  standardHeaders: headersHint,
  legacyHeaders: headersHint,
  enableDraftSpec: HEADERS,
  setHeaders: (isOn) => write({ headers: isOn === false ? "'none'" : "'legacy'" }),
  addHeaders: HEADERS,
  addHeadersOnExceeding: HEADERS,
  retryAfter: explain('the header Retry-After is always sent, with the exact time that the policy gives'),
  handler: ON_LIMITED,
  errorResponseBuilder: ON_LIMITED,
  errorMessage: (text) => (typeof text === 'function' ? ON_LIMITED : rename('message')),
  delayMs: NO_DELAYS,
  maxDelayMs: NO_DELAYS,
  execEvenly: NO_DELAYS,

  // Names.
  identifier: (name) => write({ name: nameText(name) }),
  groupId: (name) => write({ name: nameText(name) }),
  keyPrefix: (name) => write({ name: nameText(name) }, ', which keeps limiters apart'),
  nameSpace: (name) => write({ prefix: nameText(name) }),
  requestPropertyName: explain('the decision is always found at req.rateLimit'),

  // The store, and what happens without it.
  storeClient: REDIS_STORE,
  redis: REDIS_STORE,
  storage: REDIS_STORE,
  cache: (keys) =>
    write({ store: toNumber(keys) > 0 ? `memoryStore({ maxKeys: ${toNumber(keys)} })` : 'memoryStore()' }),
  tableName: write({ store: 'mysqlStore(pool, { table })' }, ', or postgresStore with the same option'),
  passOnStoreError: onStoreErrorHint,
  skipOnError: onStoreErrorHint,
  insuranceLimiter: write({ onStoreError: "'local'" }, ', which decides by the same policies in memory'),
  inMemoryBlockDuration: denyCacheHint,
  inMemoryBlockOnConsumed: denyCacheHint,

  // The set-up.
  validate: explain('headgate always checks its options, and warns of a wrong set-up with process warnings'),
  logger: advise("Listen to limiter.events.on('storeError', (error) => { … }), and log process warnings."),
  hook: advise('Mount the middleware before the handlers that it protects: app.use(rateLimit(options)).'),
  global: advise(
    "Mount the middleware with app.use for all routes, or with app.get('/path', middleware) for one.",
  ),
  onLimitReached: ON_DENIAL,
  onExceeded: ON_DENIAL,
}

function windowHint(value: unknown, unitMs: number): Hint {
  return write({ window: lengthText(value, unitMs) ?? SAME })
}

function ipv6Hint(bits: unknown): Hint {
  const isLength = typeof bits === 'number' && Number.isInteger(bits) && bits >= 1 && bits <= 128
  return write({ key: `byIp({ ipv6Prefix: ${isLength ? bits : bits === false ? 128 : 56} })` })
}

/** Of express-rate-limit: the older headers unless they are off, those of the draft where they are on. */
function headersHint(_value: unknown, { legacyHeaders, standardHeaders }: Given): Hint {
  const isLegacy = legacyHeaders !== false
  if (standardHeaders) return write({ headers: isLegacy ? "'both'" : "'draft'" })
  return write({ headers: isLegacy ? "'legacy'" : "'none'" })
}

function banHint(isOn: boolean, terms: string, denials = 1): Hint {
  if (!isOn) return advise('Leave it out: nobody is banned unless the policy is a ban.')
  const after = Math.max(1, Math.ceil(denials))
  const policy = `ban(slidingWindow({ limit, window }), { after: ${after}, within: window, ${terms} })`
  return write({ policy }, BOTH)
}

function nameText(value: unknown): string {
  return `'${suggestName(value)}'`
}

function denyCacheHint(_value: unknown, { inMemoryBlockDuration: seconds }: Given): Hint {
  return write({ denyCache: lengthText(seconds, 1000) ?? "'1s'" })
}

function onStoreErrorHint(isPassing: unknown): Hint {
  return write({ onStoreError: isPassing === false ? "'deny'" : "'allow'" })
}
