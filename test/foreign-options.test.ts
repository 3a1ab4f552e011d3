import { readFileSync } from 'node:fs'
import * as headgate from 'headgate'
import { foreignHint } from '../src/foreign/foreign-hint.js'
import { FOREIGN_OPTIONS } from '../src/foreign/foreign-options.js'
import { type FindHint, type Given, type Reading, SAME, textOf } from '../src/foreign/hint.js'
import { loginHint } from '../src/foreign/login-hint.js'
import { RemoteStore } from './stores/lease-kit.js'

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
  ],
  max: [
    { max: 5 },
    { max: 5, timeWindow: '1 minute' },
    { max: fn, timeWindow: fn },
    { max: 0 },
    { max: 5, duration: 60 },
  ],
  points: [{ points: 6, duration: 1 }, { points: 6 }, { points: 6, duration: 0 }],
  duration: [{ duration: 60 }, { points: 6, duration: 60, storeClient: {} }, { duration: 60_000, max: 5 }],
  ttl: [
    { ttl: 60_000, limit: 10 },
    { ttl: 60, limit: 10 },
    { ttl: fn, limit: fn },
  ],
  timeWindow: [{ timeWindow: '1 minute', max: 5 }, { timeWindow: 60_000 }, { timeWindow: 'never' }],
  limit: [
    { limit: fn, window: '1m' },
    { limit: fn, windowMs: 60_000 },
  ],
  throttlers: [
    {
      throttlers: [
        { ttl: 1000, limit: 3 },
        { name: 'long', ttl: 60_000, limit: 9 },
      ],
    },
    { throttlers: [] },
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
  whiteList: [{ whiteList: ['192.0.2.7'] }],
  whitelist: [{ whitelist: ['192.0.2.7'] }],
  allowList: [{ allowList: ['127.0.0.1'] }, { allowList: fn }],
  ignoreUserAgents: [{ ignoreUserAgents: [/bot/] }],
  setHeaders: [{ setHeaders: true }, { setHeaders: false }],
  errorMessage: [{ errorMessage: 'Slow down.' }, { errorMessage: fn }],
  ipv6SubnetPrefix: [{ ipv6SubnetPrefix: 64 }],
  cache: [{ cache: 5000 }],
  ban: [{ ban: 2, max: 5, timeWindow: '1m' }, { ban: 0 }],
  continueExceeding: [{ continueExceeding: true, max: 5 }, { continueExceeding: false }],
  exponentialBackoff: [{ exponentialBackoff: true, ban: 3 }, { exponentialBackoff: false }],
  enableDraftSpec: [{ enableDraftSpec: true }, { enableDraftSpec: false }],
  addHeaders: [
    { addHeaders: { 'x-ratelimit-limit': false } },
    { addHeaders: { 'ratelimit-limit': true } },
    { addHeaders: 1 },
  ],
  trustProxy: [{ trustProxy: 1 }],
  timeout: [{ timeout: 500 }, { timeout: 'long' }],
}
const CALLBACKS = [
  ...[
    'keyGenerator',
    'handler',
    'requestWasSuccessful',
    'isWhiteListed',
    'skipIf',
    'getTracker',
    'generateKey',
  ],
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
  const scope = { ...headgate, client, pool, mysqlStore: () => new RemoteStore() }
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
}

describe.each(Object.entries(FACTORIES))('%s', (owner, { make, find, enough, excludes }) => {
  test.each(CASES)('%s of another package: %p has a hint, which can be written', (name, given) => {
    const hint = find(name, given)
    if (hint === undefined) throw new Error('no hint')
    const { message } = errorOf(() => make({ ...enough, ...given } as never))
    expect(message).toMatch(new RegExp(`^${owner}: `))
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

test.each(CASES)('createLimiter knows %s, too: %p', (_name, given) => {
  const { message } = errorOf(() => createLimiter({ limit: 5, window: '1m', ...given } as never))
  expect(message).toMatch(/Write |There is no equivalent, because|It goes into rateLimit/)
  expect(message).not.toMatch(/Did you mean|Known options/)
})

test.each(CASES)('the hint for %s is one sentence: %p', (name, given) => {
  const text = textOf(foreignHint(name, given) ?? { readings: [] })
  expect(text).toMatch(/^[A-Z].*\.$/)
  expect(text.slice(0, -1)).not.toMatch(/[.!?] [A-Z]/)
})

/** Each: what was given, and what the error says. */
const SAID: readonly (readonly [Given, string])[] = [
  [
    { windowMs: 900_000, max: 100 },
    'there are no options "windowMs" and "max". Write policy: fixedWindow({ limit: 100, window: \'15m\' }), ' +
      'which counts as express-rate-limit does, or limit and window for a token bucket.',
  ],
  [
    { windowMs: 900_000, limit: 100 },
    "Write policy: fixedWindow({ limit: 100, window: '15m' }) without limit, which counts as express-rate-limit does",
  ],
  [
    { points: 6, duration: 1 },
    "Write policy: fixedWindow({ limit: 6, window: '1s' }), which counts as rate-limiter",
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
  [{ keyGenerator: fn }, 'there is no option "keyGenerator". Write key instead.'],
  [
    { keyPrefix: 'rl:' },
    "Write prefix: 'rl-' to keep applications apart, or name: 'rl-' to keep limiters apart.",
  ],
]

test.each(SAID)('%p: %s', (given, says) => {
  const own = Object.keys(given).some((name) => /windowMs|max|points|duration/.test(name))
  const { message } = errorOf(() =>
    rateLimit({ ...(own ? {} : { limit: 5, window: '1m' }), ...given } as never),
  )
  expect(message).toContain(says)
  expect(message.split('\n')).toHaveLength(1)
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
