import { readFileSync } from 'node:fs'
import * as headgate from 'headgate'
import { MIDDLEWARE_ROWS } from '../../../src/http/options.js'
import { LIMITER_ROWS } from '../../../src/limiter/parse-options.js'
import { BESIDE_LIMITS, entryHint } from '../../../src/options/hints/entry-hint.js'
import { foreignHint, foreignHintWithin, goesInto } from '../../../src/options/hints/foreign-hint.js'
import { FOREIGN_OPTIONS } from '../../../src/options/hints/foreign-options.js'
import {
  type FindHint,
  type Given,
  type Hint,
  type Reading,
  SAME,
  textOf,
} from '../../../src/options/hints/hint.js'
import { loginHint } from '../../../src/options/hints/login-hint.js'
import { policyHints } from '../../../src/options/hints/policy-hints.js'
import { RemoteStore } from '../resilience/lease/lease-kit.js'

const { createLimiter, loginGuard, rateLimit } = headgate

/** The options of packages that are not installed here, from their type declarations. */
const DECLARED: Readonly<Record<string, string>> = {
  'express-slow-down 3': 'delayAfter delayMs maxDelayMs validate',
  '@nestjs/throttler 6':
    'name limit ttl blockDuration ignoreUserAgents skipIf getTracker generateKey setHeaders errorMessage storage ' +
    'ipv6SubnetPrefix throttlers',
  '@fastify/rate-limit 11':
    'store skipOnError max timeWindow allowList keyGenerator ipv6Subnet ban hook cache continueExceeding onBanReach groupId ' +
    'errorResponseBuilder enableDraftSpec onExceeding onExceeded exponentialBackoff global redis nameSpace addHeaders ' +
    'addHeadersOnExceeding',
  'earlier versions and others':
    'onLimitReached draft_polli_ratelimit_headers trustProxy whitelist blacklist timeout',
  'express-rate-limit 8': declaredIn(
    'express-rate-limit/dist/index.d.ts',
    /export type Options = \{(.*?)\n\};/gs,
  ),
  'rate-limiter-flexible 11': declaredIn(
    'rate-limiter-flexible/types.d.ts',
    /interface I(?:RateLimiter\w*(?<!Function)Options(?:AndSchema)?|RLWrapper\w*Options|RateLimiterQueueOpts)(?: extends [^{]*)? \{(.*?)\n\}/gs,
  ),
}

function declaredIn(file: string, blocks: RegExp): string {
  const text = readFileSync(`node_modules/${file}`, 'utf8')
  const names = [...text.matchAll(blocks)].flatMap(([, body = '']) =>
    [...body.matchAll(/^(?:\t| {4})(\w+)\??(?:\(key: any\))?:/gm)].map(([, name]) => name),
  )
  return [...new Set(names)].join(' ')
}

test('the table has each option of these packages, and no other', () => {
  const declared = new Set(Object.values(DECLARED).flatMap((names) => names.split(' ')))
  expect(declared.size).toBeGreaterThan(90)
  expect([...declared].filter((name) => !Object.hasOwn(FOREIGN_OPTIONS, name))).toEqual([])
  expect(Object.keys(FOREIGN_OPTIONS).filter((name) => !declared.has(name))).toEqual([])
})

const fn = () => true
class TheirStore {
  increment() {}
}
class TheirStoreClass {
  incr() {}
}

/** Values of each option, with the options beside it; others are tried with those of OTHERS. */
const SAMPLES: Readonly<Record<string, readonly Given[]>> = {
  windowMs: [
    { windowMs: 900_000 },
    { windowMs: 900_000, max: 100 },
    { windowMs: 60_000, limit: 5 },
    { windowMs: 1000, max: fn },
    { windowMs: 'soon' },
    { windowMs: '60000', max: '50' },
    { windowMs: 60_000, limit: 0 },
    { windowMs: 60_000, delayAfter: 5 },
  ],
  max: [
    { max: 5 },
    { max: 5, timeWindow: '1 minute' },
    { max: fn, timeWindow: fn },
    { max: 0 },
    { max: '50' },
    { max: Infinity },
    { max: -1 },
    { max: 5, duration: 60 },
  ],
  points: [
    { points: 6, duration: 1 },
    { points: 6 },
    { points: 6, duration: 0 },
    { points: '5', duration: '60' },
    { points: 0 },
  ],
  duration: [{ duration: 60 }, { points: 6, duration: 60, storeClient: {} }, { duration: 60_000, max: 5 }],
  ttl: [
    { ttl: 60_000, limit: 10 },
    { ttl: 60, limit: 10 },
    { ttl: fn, limit: fn },
  ],
  timeWindow: [{ timeWindow: '1 minute', max: 5 }, { timeWindow: 60_000 }, { timeWindow: 'never' }],
  limit: [{ limit: fn, window: '1m' }, { limit: fn, windowMs: 60_000 }, { limit: 0 }, { limit: Infinity }],
  delayAfter: [{ delayAfter: 5 }, { delayAfter: fn }, { delayAfter: 5, delayMs: 100 }],
  throttlers: [
    {
      throttlers: [
        { ttl: 1000, limit: 3 },
        { name: 'long', ttl: 60_000, limit: 9 },
      ],
    },
    { throttlers: [] },
    { throttlers: { ttl: 1000, limit: 3 } },
    { throttlers: [{ ttl: 1000, limit: 3, blockDuration: 60_000 }] },
    {
      throttlers: [
        { ttl: 60, limit: 3 },
        { ttl: fn, limit: fn },
      ],
    },
    { throttlers: [{ ttl: 1000, limit: 0 }] },
  ],
  message: [{ message: fn }],
  headers: [{ headers: true }, { headers: false }],
  legacyHeaders: [
    { legacyHeaders: false },
    { legacyHeaders: true },
    { legacyHeaders: false, standardHeaders: 'draft-8' },
  ],
  standardHeaders: [
    { standardHeaders: true },
    { standardHeaders: false },
    { standardHeaders: 'draft-7', legacyHeaders: true },
  ],
  identifier: [{ identifier: 'my api' }, { identifier: fn }],
  skipFailedRequests: [{ skipFailedRequests: true }, { skipFailedRequests: false }],
  skipSuccessfulRequests: [
    { skipSuccessfulRequests: true },
    { skipSuccessfulRequests: true, skipFailedRequests: true },
    { skipSuccessfulRequests: true, requestWasSuccessful: fn },
  ],
  requestWasSuccessful: [
    { requestWasSuccessful: fn },
    { requestWasSuccessful: fn, skipFailedRequests: true },
    { requestWasSuccessful: fn, skipSuccessfulRequests: true },
  ],
  ipv6Subnet: [{ ipv6Subnet: 64 }, { ipv6Subnet: false }, { ipv6Subnet: fn }],
  store: [{ store: new TheirStore() }, { store: TheirStoreClass }],
  passOnStoreError: [{ passOnStoreError: true }, { passOnStoreError: false }],
  skipOnError: [{ skipOnError: true }, { skipOnError: false }],
  keyPrefix: [{ keyPrefix: 'rl:' }, { keyPrefix: 'login', points: 5 }, { keyPrefix: '' }],
  nameSpace: [{ nameSpace: 'my-app-' }],
  groupId: [{ groupId: 'a b' }],
  blockDuration: [
    { blockDuration: 600, points: 5, duration: 60 },
    { blockDuration: 600_000, ttl: 60_000, limit: 5 },
    { blockDuration: 600 },
    { blockDuration: 0 },
    { blockDuration: fn, ttl: 60 },
  ],
  inMemoryBlockDuration: [{ inMemoryBlockDuration: 10 }, { inMemoryBlockDuration: 0 }],
  tableName: [{ tableName: 'rate_limits' }, { tableName: '1-limits' }],
  blackList: [{ blackList: ['192.0.2.7'] }],
  blacklist: [{ blacklist: ['192.0.2.7'] }],
  isBlackListed: [{ isBlackListed: fn }],
  whiteList: [{ whiteList: ['192.0.2.7'] }, { whiteList: ['my-key'] }, { whiteList: 'my-key' }],
  whitelist: [{ whitelist: ['192.0.2.7'] }],
  allowList: [{ allowList: ['127.0.0.1'] }, { allowList: fn }],
  ignoreUserAgents: [{ ignoreUserAgents: [/bot/] }],
  setHeaders: [{ setHeaders: true }, { setHeaders: false }],
  errorMessage: [{ errorMessage: 'Slow down.' }, { errorMessage: fn }],
  ipv6SubnetPrefix: [{ ipv6SubnetPrefix: 64 }],
  cache: [{ cache: 5000 }, { cache: true }, { cache: 5000, redis: {} }],
  ban: [{ ban: 2, max: 5, timeWindow: '1m' }, { ban: 0 }, { ban: -1, max: 5, timeWindow: '1m' }],
  continueExceeding: [{ continueExceeding: true, max: 5 }, { continueExceeding: false }],
  exponentialBackoff: [{ exponentialBackoff: true, ban: 3 }, { exponentialBackoff: false }],
  enableDraftSpec: [{ enableDraftSpec: true }, { enableDraftSpec: false }],
  addHeaders: [
    { addHeaders: { 'x-ratelimit-limit': false } },
    { addHeaders: { 'ratelimit-limit': true } },
    { addHeaders: 1 },
  ],
  trustProxy: [1, 'loopback', ['10.0.0.0/8', 'loopback'], true, false, 'x', 0].map((trustProxy) => ({
    trustProxy,
  })),
  timeout: [{ timeout: 500 }, { timeout: 'long' }],
}
const CALLBACKS = [
  ...['keyGenerator', 'handler', 'isWhiteListed', 'skipIf', 'getTracker', 'generateKey'],
  'errorResponseBuilder',
]
/** Options that mean the same here, with values of the same kind. */
const SHARED = ['statusCode', 'skip', 'timeoutMs', 'name']

const CASES = Object.keys(FOREIGN_OPTIONS)
  .filter((name) => !SHARED.includes(name))
  .flatMap((name) =>
    (SAMPLES[name] ?? [{ [name]: CALLBACKS.includes(name) ? fn : true }]).map(
      (given) => [name, given] as const,
    ),
  )

const client = Object.assign(Object.create({ callBuffer() {}, pipeline() {}, on() {} }), {
  status: 'wait',
  options: {},
})
const pool = { connect() {}, query() {}, on() {}, options: {}, totalCount: 0, idleCount: 0 }

/** The options that a reading says to write. */
function optionsOf({ write }: Reading, given: Given, foreign: string): Record<string, unknown> {
  const placeholders = { LIMIT: 7, WINDOW: '2m', DURATION: '3m', LISTED: true, requestWasSuccessful: fn }
  const scope = { ...headgate, client, pool, mysqlStore: () => new RemoteStore(), ...placeholders }
  const entries = Object.entries(write).map(([name, source]) => {
    if (source === SAME) return [name, given[foreign]]
    return [name, new Function(...Object.keys(scope), `return (${source})`)(...Object.values(scope))]
  })
  return Object.fromEntries(entries)
}

/** Whether the fix of an option that the factory knows is kept, since the hint has none. */
const isKept = ({ readings, isAdvice }: Hint) => readings.length === 0 && isAdvice !== true

interface Factory {
  readonly make: (options: never) => unknown
  readonly find: FindHint
  /** Options that suffice, where a hint writes nothing that does. */
  readonly enough: Given
  /** What goes when a hint writes one of these. */
  readonly excludes: Readonly<Record<string, readonly string[]>>
}

const FACTORIES: Readonly<Record<string, Factory>> = {
  rateLimit: {
    make: rateLimit,
    find: foreignHint,
    enough: { limit: 5, window: '1m' },
    excludes: { policy: ['limit', 'window'], limits: ['limit', 'window'] },
  },
  loginGuard: {
    make: loginGuard,
    find: loginHint,
    enough: { field: 'user' },
    excludes: { account: ['field'] },
  },
  createLimiter: {
    make: createLimiter,
    find: foreignHintWithin(Object.keys(LIMITER_ROWS), goesInto('rateLimit')),
    enough: { limit: 5, window: '1m' },
    excludes: { policy: ['limit', 'window'], limits: ['limit', 'window'] },
  },
  'rateLimit: limits[0]': {
    make: (entry) => rateLimit({ limits: [entry] }),
    find: entryHint,
    enough: { policy: numberedBucket() },
    excludes: {},
  },
  tokenBucket: {
    make: headgate.tokenBucket,
    find: policyHints({ units: ['capacity', 'refill'], time: 'every' }),
    enough: { capacity: 5, refill: 5, every: '1m' },
    excludes: {},
  },
  fixedWindow: {
    make: headgate.fixedWindow,
    find: policyHints({ units: ['limit'], time: 'window' }),
    enough: { limit: 5, window: '1m' },
    excludes: {},
  },
  consecutive: {
    make: headgate.consecutive,
    find: policyHints({ units: ['limit'] }),
    enough: { limit: 5 },
    excludes: {},
  },
}

function numberedBucket() {
  return headgate.tokenBucket({ capacity: 5, refill: 5, every: '1m' })
}

describe.each(Object.entries(FACTORIES))('%s', (owner, { make, find, enough, excludes }) => {
  test.each(CASES)('%s of another package: %p has a hint, which can be written', (name, given) => {
    const hint = find(name, given)
    if (hint === undefined) {
      expect(Object.keys(enough)).toContain(name) // an option of its own, which means the same
      return
    }
    const { message } = errorOf(() => make({ ...enough, ...given } as never))
    expect(message).toMatch(new RegExp(`^${owner.split(': ')[0]}: `))
    if (isKept(hint) && message.includes(`${owner}: ${name} must be`)) {
      expect(message).not.toContain('no equivalent')
      return
    }
    expect(message).toContain(textOf(find(name, { ...enough, ...given }) ?? hint))
    expect(message).not.toMatch(/Did you mean|Known options/)
    for (const reading of hint.readings) {
      const options: Record<string, unknown> = { ...enough, ...optionsOf(reading, given, name) }
      for (const option of Object.keys(reading.write).flatMap((written) => excludes[written] ?? []))
        delete options[option]
      expect(() => make(options as never)).not.toThrow()
    }
  })
})

const COUNTED_ONLY =
  'because a guard counts failed logins only, and succeeded says which responses are successes.'

test.each<[Given, string]>([
  [{ skipSuccessfulRequests: true }, COUNTED_ONLY],
  [{ skipFailedRequests: true }, COUNTED_ONLY],
  [{ skipSuccessfulRequests: true, skipFailedRequests: true }, COUNTED_ONLY],
  [{ count: 'failed' }, COUNTED_ONLY],
  [{ requestWasSuccessful: fn }, 'Write succeeded, with the same function, which returns a boolean'],
  [{ requestWasSuccessful: true }, COUNTED_ONLY],
])('loginGuard: %p: %s', (given, says) => {
  const { message } = errorOf(() => loginGuard({ field: 'user', ...given } as never))
  expect(message).toContain(says)
  expect(message.split('\n')).toHaveLength(1)
})

test('no hint of loginGuard writes a rule by the status', () => {
  const others = [{ count: 'failed' }, { count: fn }, { key: fn }].map((given) => ['', given] as const)
  for (const [, given] of [...CASES, ...others]) {
    const { message } = errorOf(() => loginGuard({ field: 'user', ...given } as never))
    expect(message).not.toMatch(/statusCode\s*[<>=!]/)
  }
})

test('beside limits go all options of rateLimit, but for those of a single limit', () => {
  const ofOne = ['limit', 'window', 'policy', 'limits', 'key', 'cost', 'name']
  const beside = Object.keys(MIDDLEWARE_ROWS).filter((name) => !ofOne.includes(name))
  expect([...BESIDE_LIMITS].sort()).toEqual(beside.sort())
})

test.each(CASES)('the hint for %s is one sentence: %p', (name, given) => {
  const text = textOf(foreignHint(name, given) ?? { readings: [] })
  expect(text).toMatch(/^[A-Z].*\.$/)
  expect(text.slice(0, -1)).not.toMatch(/[.!?] [A-Z]/)
  expect(text).not.toMatch(/: \w+\.$/)
})

/** Each: what was given, and what the error says. */
const SAID: readonly (readonly [Given, string])[] = [
  [
    { windowMs: 900_000, max: 100 },
    'there are no options "windowMs" and "max". Write policy: fixedWindow({ limit: 100, window: \'15m\' }), ' +
      'the closest to express-rate-limit, or limit and window for a token bucket.',
  ],
  [
    { windowMs: 900_000, limit: 100 },
    "Write policy: fixedWindow({ limit: 100, window: '15m' }) without limit, the closest to express-rate-limit",
  ],
  [
    { points: 6, duration: 1 },
    "Write policy: fixedWindow({ limit: 6, window: '1s' }), the closest to rate-limiter-flexible",
  ],
  [
    { points: 6, duration: 1, blockDuration: 600 },
    "Write policy: ban(fixedWindow({ limit: 6, window: '1s' }), { after: 1, within: '1s', for: '10m' }) instead.",
  ],
  [{ points: 6, duration: 0 }, 'Write policy: consecutive({ limit: 6 }), which has no window.'],
  [
    { max: 5, duration: 60 },
    "Write policy: fixedWindow({ limit: 5, window: '1m' }) where it counts seconds, " +
      "or policy: fixedWindow({ limit: 5, window: '60ms' }) where it counts milliseconds.",
  ],
  [{ legacyHeaders: false, standardHeaders: 'draft-8' }, "Write headers: 'draft' instead."],
  [{ legacyHeaders: false }, "Write headers: 'none' instead."],
  [{ standardHeaders: true }, "Write headers: 'both' instead."],
  [{ passOnStoreError: false }, "Write onStoreError: 'deny' instead."],
  [{ passOnStoreError: true }, "Write onStoreError: 'allow' instead."],
  [{ max: '50', windowMs: '60000' }, "fixedWindow({ limit: 50, window: '1m' })"],
  [{ points: '5', duration: '60' }, "fixedWindow({ limit: 5, window: '1m' })"],
  [{ max: 5, timeWindow: '60000' }, "{ limit: 5, window: '1m' }), the closest to @fastify/rate-limit"],
  [
    { ttl: 60_000, limit: 5 },
    "slidingWindow({ limit: 5, window: '1m' }) without limit, the closest to @nestjs",
  ],
  [
    { delayAfter: 5, windowMs: 60_000 },
    "Write policy: fixedWindow({ limit: 5, window: '1m' }), which denies what express-slow-down delays.",
  ],
  [{ max: 0 }, 'there is no option "max". A limit of 0 lets nobody through: leave the route out, or'],
  [{ points: 0 }, 'A limit of 0 lets nobody through'],
  [{ limit: 0, windowMs: 60_000 }, 'there is no option "windowMs". A limit of 0 lets nobody through'],
  [{ max: Infinity }, 'A limit of Infinity lets everybody through: leave the limiter out.'],
  [
    { max: fn, windowMs: 60_000 },
    "Write policy: () => fixedWindow({ limit: LIMIT, window: '1m' }), the closest to express-rate-limit, " +
      'where LIMIT stands for what the function returns.',
  ],
  [
    { max: 5, timeWindow: 'never' },
    'fixedWindow({ limit: 5, window: WINDOW }), the closest to @fastify/rate-limit, ' +
      "where WINDOW stands for a length of time such as '15m'",
  ],
  [{ trustProxy: 2 }, 'Write key: byIp({ trustProxy: 2 }) instead.'],
  [{ trustProxy: 'loopback' }, "Write key: byIp({ trustProxy: 'loopback' }) instead."],
  [{ trustProxy: ['10.0.0.0/8', 'loopback'] }, "byIp({ trustProxy: ['10.0.0.0/8', 'loopback'] }) instead."],
  [{ trustProxy: true }, 'it never trusts everybody.'],
  [{ trustProxy: false }, 'Leave it out'],
  [{ blockOnConsumed: 5 }, "Write denyCache: '1s', which is the default."],
  [
    { max: fn, timeWindow: fn },
    '() => fixedWindow({ limit: LIMIT, window: WINDOW }), the closest to @fastify/rate-limit, ' +
      'where LIMIT and WINDOW stand for what the functions return.',
  ],
  [{ ban: -1 }, 'there is no option "ban". Leave it out: nobody is banned'],
  [
    { throttlers: [{ name: 'a', ttl: 60_000, limit: 5, blockDuration: 600_000 }] },
    "{ name: 'a', policy: ban(slidingWindow({ limit: 5, window: '1m' }), " +
      "{ after: 1, within: '1m', for: '10m' }) }",
  ],
  [
    { throttlers: { ttl: 60_000, limit: 5 } },
    "limits: [{ name: 'limit-1', policy: slidingWindow({ limit: 5, window: '1m' }) }]",
  ],
  [{ requestWasSuccessful: fn }, 'it has no effect without skipSuccessfulRequests or skipFailedRequests.'],
  [
    { requestWasSuccessful: fn, skipSuccessfulRequests: true },
    'Write count: async (req, res) => !(await requestWasSuccessful(req, res)) instead.',
  ],
  [{ isWhiteListed: fn }, 'Write skip, which is called with (req, res).'],
  [{ skipIf: fn }, 'Write skip, which is called with (req, res).'],
  [{ generateKey: fn }, 'Write key, which is called with (req).'],
  [{ whiteList: ['127.0.0.1'] }, 'Write allow instead.'],
  [
    { whiteList: ['my-key'] },
    'Write skip: (req, res) => LISTED, where LISTED stands for your own condition, since allow takes',
  ],
  [
    { cache: 5000, redis: {} },
    'no options "cache" and "redis". Write store: redisStore(client), or the store of your database.',
  ],
  [
    { ipv6Subnet: 64, keyGenerator: fn },
    'no options "ipv6Subnet" and "keyGenerator". Write key: keyGenerator instead.',
  ],
  [{ store: 'redis://me:pw@host' }, 'got a string. Did you mean store: redisStore(client)?'],
  [{ store: 'postgresql://me:pw@host' }, 'got a string. Did you mean store: postgresStore(pool)?'],
  [{ store: 'MYSQL://me:pw@host' }, 'got a string. Did you mean store: mysqlStore(pool)?'],
  [{ store: 'memcached://host' }, 'got a string. Did you mean store: memcachedStore(client)?'],
  [{ store: 'sqlite://host' }, 'got a string. Did you mean store: memoryStore()?'],
  [{ onLimitReached: fn }, "Listen to limiter.events.on('limited', (decision, req) => { … })."],
  [
    { skipIf: fn, points: 1, max: 2, windowMs: 1000, duration: 1 },
    'there are no options "points", "max", "windowMs" and "duration". Write policy',
  ],
  [{ keyGenerator: fn }, 'there is no option "keyGenerator". Write key instead.'],
  [
    { keyPrefix: 'rl:' },
    "Write prefix: 'rl-' to keep applications apart, or name: 'rl-' to keep limiters apart.",
  ],
]

test.each(SAID)('%p: %s', (given, says) => {
  const own = Object.keys(given).some((name) => /windowMs|max|points|duration|ttl/.test(name))
  const { message } = errorOf(() =>
    rateLimit({ ...(own ? {} : { limit: 5, window: '1m' }), ...given } as never),
  )
  expect(message).toContain(says)
  expect(message.split('\n')).toHaveLength('skipIf' in given && 'max' in given ? 3 : 1)
})

/** Whole messages of other factories. */
const WHOLE: readonly (readonly [() => unknown, string])[] = [
  [
    () => loginGuard({ field: 'user', retryAfter: 'corse' } as never),
    "loginGuard: retryAfter must be one of 'coarse', 'exact', 'none', got \"corse\". Did you mean retryAfter: 'coarse'?",
  ],
  [
    () => loginGuard({ field: 'user', deviceCookie: 'x' } as never),
    'loginGuard: deviceCookie: options must be an object, got a string. Write deviceCookie: { secret } instead.',
  ],
  [
    () => loginGuard({ field: 'user', limit: 5, window: 60 } as never),
    'loginGuard: there are no options "limit" and "window". ' +
      "Write limits: { account: fixedWindow({ limit: 5, window: '1m' }) } where it counts seconds, " +
      "or limits: { account: fixedWindow({ limit: 5, window: '60ms' }) } where it counts milliseconds.",
  ],
  [
    () => rateLimit({ limits: [{ limit: 5, window: 60 }] } as never),
    'rateLimit: limits[0]: there are no options "limit" and "window". ' +
      "Write policy: tokenBucket({ capacity: 5, refill: 5, every: '1m' }) where it counts seconds, " +
      "or policy: tokenBucket({ capacity: 5, refill: 5, every: '60ms' }) where it counts milliseconds.",
  ],
  [
    () => rateLimit({ limits: [{ windowMs: 60_000, max: 5 }] } as never),
    'rateLimit: limits[0]: there are no options "windowMs" and "max". ' +
      "Write policy: fixedWindow({ limit: 5, window: '1m' }), the closest to express-rate-limit.",
  ],
  [
    () => rateLimit({ limits: [{ policy: numberedBucket(), keyPrefix: 'rl:' }] } as never),
    'rateLimit: limits[0]: there is no option "keyPrefix". Write name: \'rl-\' to keep limiters apart.',
  ],
  [
    () => rateLimit({ limits: [{ policy: numberedBucket(), store: headgate.memoryStore() }] } as never),
    'rateLimit: limits[0]: there is no option "store". Write it beside limits.',
  ],
  [
    () => rateLimit({ limits: [{ policy: numberedBucket(), handler: fn }] } as never),
    'rateLimit: limits[0]: there is no option "handler". Write onLimited beside limits.',
  ],
  [
    () => rateLimit({ limits: [{ policy: numberedBucket(), groupId: 'a' }] } as never),
    'rateLimit: limits[0]: there is no option "groupId". Write name: \'a\' instead.',
  ],
  [
    () => loginGuard({ field: 'user', trustProxy: true } as never),
    'loginGuard: there is no option "trustProxy". ' +
      'Give byIp the number of your proxies, byIp({ trustProxy: 1 }): it never trusts everybody.',
  ],
  [
    () => loginGuard({ field: 'user', blockOnConsumed: 5 } as never),
    'loginGuard: there is no option "blockOnConsumed". ' +
      'There is no equivalent, because a login guard counts denials, and never answers them from a cache.',
  ],
  [
    () => headgate.consecutive({ points: 5, duration: 0 } as never),
    'consecutive: 2 options are wrong:\n- there is no option "points". Write limit: 5 instead.\n' +
      '- there is no option "duration". Leave it out: consecutive has no window.',
  ],
  [
    () => headgate.tokenBucket({ limit: 5, window: 60 } as never),
    'tokenBucket: 2 options are wrong:\n- there is no option "limit". Write capacity: 5 and refill: 5 instead.\n' +
      '- there is no option "window". Write every: \'1m\' where it counts seconds, ' +
      "or every: '60ms' where it counts milliseconds.",
  ],
]

test.each(WHOLE)('the whole message is right (%#)', (make, whole) => {
  expect(errorOf(make).message).toBe(whole)
})

test.each([undefined])('an option of another package that is %p was left out', (value) => {
  expect(() => rateLimit({ limit: 5, window: '1m', windowMs: value, nonsense: value } as never)).not.toThrow()
})

const numbered = { capacity: 5, refill: 5, every: '1m' }

/** Policies in words of other packages, and the policies that the hints write. */
const POLICIES: readonly (readonly [() => unknown, readonly string[]])[] = [
  [
    () => headgate.tokenBucket({ limit: 5, window: '1m' } as never),
    ['Write capacity: 5 and refill: 5 instead.', "Write every: '1m' instead."],
  ],
  [() => headgate.fixedWindow({ max: 5, windowMs: 60_000 } as never), ['limit: 5', "window: '1m'"]],
  [() => headgate.slidingWindow({ points: 5, duration: 1 } as never), ['limit: 5', "window: '1s'"]],
  [
    () => headgate.fixedWindow({ limit: 5, ttl: 60 } as never),
    ["window: '1m' where it counts seconds, or window: '60ms' where it counts milliseconds."],
  ],
  [() => headgate.consecutive({ max: 5 } as never), ['Write limit: 5 instead.']],
  [
    () =>
      headgate.ban(headgate.tokenBucket(numbered), {
        after: 1,
        within: '1m',
        blockDuration: 60_000,
      } as never),
    ["for: '1000m' where it counts seconds, or for: '1m' where it counts milliseconds."],
  ],
  [
    () => headgate.tokenBucket({ ...numbered, keyGenerator: fn } as never),
    ['It goes into the options of the limiter, as key.'],
  ],
]

test.each(POLICIES)('a policy in words of other packages has hints, too (%#)', (make, hints) => {
  const { message } = errorOf(make)
  for (const hint of hints) expect(message).toContain(hint)
  expect(message).not.toMatch(/undefined|Known options/)
})

function errorOf(make: () => unknown): Error {
  try {
    make()
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return error as Error
  }
  throw new Error('nothing was thrown')
}
