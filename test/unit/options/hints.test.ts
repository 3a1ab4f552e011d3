import { readFileSync } from 'node:fs'
import * as headgate from 'headgate'
import { MIDDLEWARE_ROWS } from '../../../src/http/options.js'
import { LIMITER_ROWS } from '../../../src/limiter/parse-options.js'
import {
  BESIDE_LIMITS,
  entryHint,
  foreignHint,
  foreignHintWithin,
} from '../../../src/options/hints/foreign-hint.js'
import { FOREIGN_OPTIONS } from '../../../src/options/hints/foreign-options.js'
import { type FindHint, type Given, type Hint, SAME, textOf } from '../../../src/options/hints/hint.js'
import { loginHint } from '../../../src/options/hints/login-hint.js'
import { policyHints } from '../../../src/options/hints/policy-hints.js'
import { RemoteStore } from '../resilience/lease/lease-kit.js'

const { ban, consecutive, createLimiter, fixedWindow, loginGuard, rateLimit, slidingWindow, tokenBucket } =
  headgate

const EXPRESS_RATE_LIMIT = declaredIn(
  'express-rate-limit/dist/index.d.ts',
  /export type Options = \{(.*?)\n\};/gs,
)
const RATE_LIMITER_FLEXIBLE = declaredIn(
  'rate-limiter-flexible/types.d.ts',
  /interface I(?:RateLimiter\w*(?<!Function)Options(?:AndSchema)?|RLWrapper\w*Options|RateLimiterQueueOpts)(?: extends [^{]*)? \{(.*?)\n\}/gs,
)
/** The options of packages that are not installed here, from their type declarations. */
const OTHERS =
  'delayAfter delayMs maxDelayMs ' + // express-slow-down 3
  'name limit ttl blockDuration ignoreUserAgents skipIf getTracker generateKey setHeaders errorMessage storage ' +
  'ipv6SubnetPrefix throttlers ' + // @nestjs/throttler 6
  'max timeWindow allowList ban hook cache continueExceeding onBanReach groupId skipOnError ' +
  'errorResponseBuilder enableDraftSpec onExceeded exponentialBackoff global redis nameSpace addHeaders ' +
  'addHeadersOnExceeding ' + // @fastify/rate-limit 11
  'onLimitReached trustProxy whitelist blacklist' // earlier versions and other middleware

function declaredIn(file: string, blocks: RegExp): readonly string[] {
  const text = readFileSync(`node_modules/${file}`, 'utf8')
  return [...text.matchAll(blocks)].flatMap(([, body = '']) =>
    [...body.matchAll(/^(?:\t| {4})(\w+)\??(?:\(key: any\))?:/gm)].map(([, name]) => name as string),
  )
}

test('the table has each option of express-rate-limit that headgate does not have', () => {
  expect(EXPRESS_RATE_LIMIT.length).toBeGreaterThan(15)
  const own = Object.keys(MIDDLEWARE_ROWS)
  const names = EXPRESS_RATE_LIMIT.filter((name) => !own.includes(name))
  expect(names.filter((name) => !Object.hasOwn(FOREIGN_OPTIONS, name))).toEqual([])
})

test('the table has only options that a package has, and headgate does not', () => {
  const declared = [...EXPRESS_RATE_LIMIT, ...RATE_LIMITER_FLEXIBLE, ...OTHERS.split(' ')]
  const names = Object.keys(FOREIGN_OPTIONS)
  expect(names.filter((name) => !declared.includes(name))).toEqual([])
  expect(names.filter((name) => name in MIDDLEWARE_ROWS)).toEqual([])
})

const fn = () => true

/** Values of options, with the options beside them; options that are not here are tried with `true`. */
const SAMPLES: readonly Given[] = [
  ...[{ max: 5 }, { points: 6 }, { delayAfter: 5 }],
  ...[900_000, '60000', '1m'].map((windowMs) => ({ windowMs })),
  ...[{ timeWindow: '1 minute' }, { timeWindow: 60_000 }, { ttl: 60_000 }, { ttl: 60 }],
  ...[{ duration: 60 }, { duration: '60' }, { duration: 0 }],
  ...['keyGenerator', 'getTracker', 'generateKey', 'isWhiteListed', 'skipIf', 'handler'].map((name) => ({
    [name]: fn,
  })),
  ...[{ errorResponseBuilder: fn }, { errorMessage: fn }, { errorMessage: 'Slow down.' }],
  ...[{ allowList: ['127.0.0.1'] }, { allowList: fn }, { whiteList: ['192.0.2.7'] }],
  ...[{ whitelist: ['192.0.2.7'] }, { blackList: ['192.0.2.7'] }, { blacklist: ['192.0.2.7'] }],
  ...[{ ipv6Subnet: 64 }, { ipv6Subnet: false }, { ipv6Subnet: fn }, { ipv6SubnetPrefix: 64 }],
  ...[{ skipFailedRequests: true }, { skipFailedRequests: false }, { requestWasSuccessful: fn }],
  ...[{ skipSuccessfulRequests: true }, { skipSuccessfulRequests: false }],
  ...[
    { blockDuration: 600 },
    { blockDuration: 60_000, ttl: 60_000 },
    { blockDuration: 0 },
    { blockDuration: fn },
  ],
  ...[{ ban: 2 }, { ban: 0 }, { ban: -1 }, { continueExceeding: true }, { continueExceeding: false }],
  ...[{ exponentialBackoff: true }, { exponentialBackoff: false }],
  ...[
    { standardHeaders: true },
    { standardHeaders: 'draft-8', legacyHeaders: false },
    { standardHeaders: false },
  ],
  ...[{ legacyHeaders: true }, { legacyHeaders: false }, { setHeaders: false }],
  ...[{ identifier: 'my api' }, { identifier: fn }, { keyPrefix: 'rl:' }, { nameSpace: 'my-app-' }],
  ...[{ groupId: 'a b' }, { cache: 5000 }, { passOnStoreError: false }, { skipOnError: true }],
  ...[{ inMemoryBlockOnConsumed: 6 }, { inMemoryBlockDuration: 10 }, { inMemoryBlockDuration: 0 }],
]
const CASES = [
  ...SAMPLES.map((given) => [Object.keys(given)[0] as string, given] as const),
  ...Object.keys(FOREIGN_OPTIONS)
    .filter((name) => !SAMPLES.some((given) => name in given))
    .map((name) => [name, { [name]: true } as Given] as const),
]

const client = Object.assign(Object.create({ callBuffer() {}, pipeline() {}, on() {} }), {
  status: 'wait',
  options: {},
})
const numbered = { capacity: 5, refill: 5, every: '1m' }
const policy = tokenBucket(numbered)

/** The options that a hint says to write. */
function optionsOf({ write }: Hint, given: Given, foreign: string): Record<string, unknown> {
  const values = { limit: 7, window: '2m', ttl: 60_000, name: 'a', trustProxy: 1, table: 'limits', policy }
  const scope = { ...headgate, client, pool: {}, mysqlStore: () => new RemoteStore(), ...values }
  const entries = Object.entries(write).map(([name, source]) => {
    if (source === SAME) return [name, given[foreign]]
    return [name, new Function(...Object.keys(scope), `return (${source})`)(...Object.values(scope))]
  })
  return Object.fromEntries(entries)
}

interface Factory {
  readonly make: (options: never) => unknown
  readonly find: FindHint
  /** Options that suffice, where a hint writes nothing that does. */
  readonly enough: Given
}

const FACTORIES: Readonly<Record<string, Factory>> = {
  rateLimit: { make: rateLimit, find: foreignHint, enough: { limit: 5, window: '1m' } },
  loginGuard: { make: loginGuard, find: loginHint, enough: { field: 'user' } },
  createLimiter: {
    make: createLimiter,
    find: foreignHintWithin(Object.keys(LIMITER_ROWS), 'into rateLimit'),
    enough: { limit: 5, window: '1m' },
  },
  'rateLimit: limits[0]': {
    make: (entry) => rateLimit({ limits: [entry] }),
    find: entryHint,
    enough: { policy },
  },
  tokenBucket: {
    make: tokenBucket,
    find: policyHints({ units: ['capacity', 'refill'], time: 'every' }),
    enough: numbered,
  },
  fixedWindow: {
    make: fixedWindow,
    find: policyHints({ units: ['limit'], time: 'window' }),
    enough: { limit: 5, window: '1m' },
  },
  consecutive: { make: consecutive, find: policyHints({ units: ['limit'] }), enough: { limit: 5 } },
}

/** What goes when a hint writes one of these. */
const REPLACED: Readonly<Record<string, readonly string[]>> = {
  policy: ['limit', 'window'],
  limits: ['limit', 'window'],
  account: ['field'],
}
describe.each(Object.entries(FACTORIES))('%s', (owner, { make, find, enough }) => {
  test.each(CASES)('%s of another package, in %p, has a hint that can be written', (name, given) => {
    if (owner === 'loginGuard' && name === 'retryAfter') return // an option of its own
    const hint = find(name, { ...enough, ...given }) as Hint
    const { message } = errorOf(() => make({ ...enough, ...given } as never))
    expect(message.startsWith(`${owner.split(': ')[0]}: `)).toBe(true)
    expect(message).toContain(textOf(hint))
    expect(message).not.toMatch(/Did you mean|Known options/)
    if (Object.keys(hint.write).length === 0) return
    const options: Record<string, unknown> = { ...enough, ...optionsOf(hint, given, name) }
    for (const option of Object.keys(hint.write).flatMap((written) => REPLACED[written] ?? []))
      delete options[option]
    expect(() => make(options as never)).not.toThrow()
  })
})

test.each(CASES)('the hint for %s is one sentence: %p', (name, given) => {
  const text = textOf(foreignHint(name, given) as Hint)
  expect(text).toMatch(/^[A-Z].*\.$/)
  expect(text.slice(0, -1)).not.toMatch(/[.!?] [A-Z]/)
})

test.each(['soon', fn, 0, Symbol('soon'), null, true])(
  'a window of %p is renamed, and shown by no hint',
  (value) => {
    for (const name of ['windowMs', 'timeWindow', 'ttl'])
      expect(textOf(foreignHint(name, { [name]: value }) as Hint)).toBe('Write window instead.')
  },
)

test('all options of rateLimit go beside limits, except those of a single limit', () => {
  const ofOne = ['limit', 'window', 'policy', 'limits', 'key', 'cost', 'name']
  const beside = Object.keys(MIDDLEWARE_ROWS).filter((name) => !ofOne.includes(name))
  expect([...BESIDE_LIMITS].sort()).toEqual(beside.sort())
})

test('no hint of loginGuard writes a rule by the status', () => {
  const others = [{ count: 'failed' }, { count: fn }, { key: fn }].map((given) => ['', given] as const)
  for (const [, given] of [...CASES, ...others]) {
    const { message } = errorOf(() => loginGuard({ field: 'user', ...given } as never))
    expect(message).not.toMatch(/statusCode\s*[<>=!]/)
  }
})

const enough = { limit: 5, window: '1m' }
const FAILURES_ONLY =
  'There is no equivalent, because a guard counts failed logins only, and succeeded says which responses are successes.'

/** What errors say, without their owner. */
const SAID: readonly (readonly [() => unknown, string])[] = [
  [
    () => rateLimit({ windowMs: 900_000, max: 100, standardHeaders: true, legacyHeaders: false } as never),
    '3 options are wrong:\n- there is no option "windowMs". Write window: \'15m\' instead.\n' +
      '- there is no option "max". Write limit instead.\n' +
      '- there are no options "standardHeaders" and "legacyHeaders". Write headers: \'draft\' instead.',
  ],
  [
    () => rateLimit({ points: 6, duration: 60, blockDuration: 600 } as never),
    '3 options are wrong:\n- there is no option "points". Write limit instead.\n' +
      '- there is no option "duration". Write window: \'1m\' instead.\n' +
      '- there is no option "blockDuration". Write policy: ban(slidingWindow({ limit, window }), ' +
      "{ after: 1, within: window, for: '10m' }) in place of limit and window.",
  ],
  [
    () => rateLimit({ limit: 5, ttl: 60 } as never),
    'there is no option "ttl". Write window: \'1m\' instead.',
  ],
  [
    () => rateLimit({ points: 6, duration: 0 } as never),
    '2 options are wrong:\n- there is no option "points". Write limit instead.\n' +
      '- there is no option "duration". Write policy: consecutive({ limit }) in place of limit and window.',
  ],
  [
    () => rateLimit({ ...enough, limit: fn } as never),
    'limit must be a whole number of at least 1, got function fn. ' +
      'Give a function as policy, which returns the policy for a request.',
  ],
  [
    () => rateLimit({ ...enough, keyGenerator: fn } as never),
    'there is no option "keyGenerator". Write key instead.',
  ],
  [
    () => rateLimit({ ...enough, handler: fn } as never),
    'there is no option "handler". Write onLimited, which is called with (req, res, next, decision).',
  ],
  [
    () => rateLimit({ ...enough, skipIf: fn } as never),
    'there is no option "skipIf". Write skip, which is called with (req, res).',
  ],
  [
    () => rateLimit({ ...enough, skipSuccessfulRequests: true } as never),
    'there is no option "skipSuccessfulRequests". Write count: \'failed\' instead.',
  ],
  [
    () => rateLimit({ ...enough, skipFailedRequests: false, skipSuccessfulRequests: true } as never),
    '2 options are wrong:\n- there is no option "skipFailedRequests". ' +
      'Leave it out: all responses count unless the option count says otherwise.\n' +
      '- there is no option "skipSuccessfulRequests". Write count: \'failed\' instead.',
  ],
  [
    () => rateLimit({ ...enough, inMemoryBlockOnConsumed: 5, inMemoryBlockDuration: 10 } as never),
    'there are no options "inMemoryBlockOnConsumed" and "inMemoryBlockDuration". Write denyCache: \'10s\' instead.',
  ],
  [
    () => rateLimit({ ...enough, trustProxy: 1 } as never),
    'there is no option "trustProxy". Write key: byIp({ trustProxy }), with the number or the addresses of your proxies.',
  ],
  [
    () => rateLimit({ ...enough, passOnStoreError: false } as never),
    'there is no option "passOnStoreError". Write onStoreError: \'deny\' instead.',
  ],
  [
    () => rateLimit({ ...enough, storeClient: {} } as never),
    'there is no option "storeClient". Write store: redisStore(client), or the store of your database.',
  ],
  [
    () => rateLimit({ ...enough, keyPrefix: 'rl:' } as never),
    'there is no option "keyPrefix". Write name: \'rl-\', which keeps limiters apart.',
  ],
  [
    () => rateLimit({ ...enough, onLimitReached: fn } as never),
    'there is no option "onLimitReached". Listen to limiter.events.on(\'limited\', (decision, req) => { … }).',
  ],
  [
    () => createLimiter({ ...enough, handler: fn } as never),
    'there is no option "handler". It goes into rateLimit, as onLimited.',
  ],
  ...(
    [
      ['redis://me:pw@host', 'redisStore(client)'],
      ['postgresql://me:pw@host', 'postgresStore(pool)'],
      ['MYSQL://me:pw@host', 'mysqlStore(pool)'],
      ['memcached://host', 'memcachedStore(client)'],
      ['sqlite://host', 'memoryStore()'],
    ] as const
  ).map(
    ([store, meant]) =>
      [
        () => rateLimit({ ...enough, store } as never),
        `store must be a store, got a string. Did you mean store: ${meant}?`,
      ] as const,
  ),
  [
    () => rateLimit({ ...enough, store: { increment() {} } } as never),
    'store must be a store, got an object. Did you mean store: redisStore(client)?',
  ],
  [
    () => rateLimit({ limits: [{ limit: 5, windowMs: 60_000 }] } as never),
    'limits[0]: there are no options "limit" and "windowMs". Write policy: slidingWindow({ limit, window }) instead.',
  ],
  [
    () => rateLimit({ limits: [{ policy, store: headgate.memoryStore() }] } as never),
    'limits[0]: there is no option "store". It goes beside limits.',
  ],
  [
    () => rateLimit({ limits: [{ policy, handler: fn }] } as never),
    'limits[0]: there is no option "handler". It goes beside limits, as onLimited.',
  ],
  [
    () => loginGuard({ field: 'user', limit: 5, windowMs: 60_000 } as never),
    'there are no options "limit" and "windowMs". Write limits: { account: slidingWindow({ limit, window }) } instead.',
  ],
  ...[{ skipSuccessfulRequests: true }, { skipFailedRequests: true }, { count: 'failed' }].map(
    (given) =>
      [
        () => loginGuard({ field: 'user', ...given } as never),
        `there is no option "${Object.keys(given)[0]}". ${FAILURES_ONLY}`,
      ] as const,
  ),
  [
    () => loginGuard({ field: 'user', requestWasSuccessful: fn } as never),
    'there is no option "requestWasSuccessful". Write succeeded, which returns a boolean and no promise.',
  ],
  [
    () => loginGuard({ field: 'user', trustProxy: 1 } as never),
    'there is no option "trustProxy". Write address: byIp({ trustProxy }) instead.',
  ],
  [
    () => loginGuard({ field: 'user', inMemoryBlockOnConsumed: 5 } as never),
    'there is no option "inMemoryBlockOnConsumed". ' +
      'There is no equivalent, because a login guard counts denials, and never answers them from a cache.',
  ],
  [
    () => tokenBucket({ limit: 5, window: '1m' } as never),
    '2 options are wrong:\n- there is no option "limit". Write capacity and refill instead.\n' +
      '- there is no option "window". Write every instead.',
  ],
  [
    () => slidingWindow({ points: 5, duration: 1 } as never),
    '2 options are wrong:\n- there is no option "points". Write limit instead.\n' +
      '- there is no option "duration". Write window: \'1s\' instead.',
  ],
  [
    () => consecutive({ limit: 5, windowMs: 60_000 } as never),
    'there is no option "windowMs". Leave it out: consecutive has no window.',
  ],
  [
    () => tokenBucket({ ...numbered, keyGenerator: fn } as never),
    'there is no option "keyGenerator". It goes into the options of the limiter, as key.',
  ],
  [
    () => ban(policy, { after: 1, within: '1m', blockDuration: 600 } as never),
    'there is no option "blockDuration". Write for: \'10m\' instead.',
  ],
]

test.each(SAID)('an error says what to write in place of options of other packages (%#)', (make, says) => {
  expect(errorOf(make).message.replace(/^\w+: /, '')).toBe(says)
})

test('an option of another package that is undefined was left out', () => {
  expect(() => rateLimit({ ...enough, windowMs: undefined, nonsense: undefined } as never)).not.toThrow()
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
