import * as headgate from 'headgate'
import * as hono from 'headgate/hono'
import { redisStore } from 'headgate/redis'
import { MIDDLEWARE_ROWS } from '../../../src/http/options.js'
import { LIMITER_ROWS } from '../../../src/limiter/read-options.js'
import { FOREIGN_OPTIONS, foreignFixes } from '../../../src/options/foreign-options.js'
import { BESIDE_LIMITS, MIDDLEWARE_OPTIONS } from '../../../src/options/placements.js'
import {
  EXPRESS_RATE_LIMIT,
  EXPRESS_SLOW_DOWN,
  FORMER,
  RATE_LIMITER_FLEXIBLE,
} from '../../support/peer-options.js'

const { ban, consecutive, createLimiter, loginGuard, rateLimit, slidingWindow, tokenBucket } = headgate

const HAVE_FIXES = Object.keys(foreignFixes())

test.each([
  ['express-rate-limit', EXPRESS_RATE_LIMIT, 16],
  ['express-slow-down', EXPRESS_SLOW_DOWN, 3],
])('the table has each option of %s that headgate does not have', (_, declared, least) => {
  expect(declared.length).toBeGreaterThanOrEqual(least)
  const names = declared.filter((name) => !Object.hasOwn(MIDDLEWARE_ROWS, name))
  expect(names.filter((name) => !HAVE_FIXES.includes(name))).toEqual([])
})

test('the table has only options that a package has, and headgate does not', () => {
  const declared = [...EXPRESS_RATE_LIMIT, ...EXPRESS_SLOW_DOWN, ...RATE_LIMITER_FLEXIBLE, ...FORMER]
  const names = Object.keys(FOREIGN_OPTIONS)
  expect(names.filter((name) => !declared.includes(name))).toEqual([])
  expect(names.filter((name) => name in MIDDLEWARE_ROWS)).toEqual([])
})

const fn = () => true
const enough = { limit: 5, window: '1m' }
const numbered = { capacity: 5, refill: 5, every: '1m' }
const policy = tokenBucket(numbered)
const redisClient = () =>
  Object.assign(Object.create({ callBuffer() {}, pipeline() {}, on() {} }), {
    status: 'wait',
    options: { autoResendUnfulfilledCommands: false },
  })

test('an option of a policy belongs into the policy', () => {
  const problem =
    /there is no option "startsAt"\. Write policy: fixedWindow\(\{ .*startsAt: 'first-request' \}\)\.$/
  const given = { startsAt: 'first-request' }
  expect(() => rateLimit({ ...enough, ...given } as never)).toThrow(problem)
  expect(() => createLimiter({ ...enough, key: fn, ...given } as never)).toThrow(problem)
  expect(() => rateLimit({ limits: [{ policy, ...given }] } as never)).toThrow(problem)
})

describe.each(Object.keys(FOREIGN_OPTIONS))('rateLimit with %s, an option of another package', (name) => {
  const { message } = errorOf(() => rateLimit({ ...enough, [name]: true } as never))
  const [, fix = ''] = /^rateLimit: there is no option "\w+"\. ([A-Z].*\.)$/.exec(message) ?? []

  test('throws an error with a fix of its own', () => {
    expect(fix).toMatch(/^(Write|Leave it out|Listen to|Mount|There is no equivalent)\b/)
  })

  test('the fix writes an option that exists, with code that runs', () => {
    const [, option, code] = /^Write (\w+)(?:: (\w+\(.*\)|\[.*\]))?/.exec(fix) ?? []
    if (option === undefined) return expect(fix).not.toMatch(/^Write/)
    expect(Object.keys(MIDDLEWARE_ROWS)).toContain(option)
    if (code === undefined) return
    const scope = {
      ...headgate,
      redisStore,
      client: redisClient(),
      policy,
      pool: {},
      table: 'limits',
      name: 'a',
      mysqlStore: headgate.memoryStore,
      ...enough,
    }
    const made = new Function(...Object.keys(scope), `return ${code}`)(...Object.values(scope))
    const others = option === 'policy' || option === 'limits' ? {} : { ...enough, limit: 100 }
    expect(() => rateLimit({ ...others, [option]: made })).not.toThrow()
  })
})

test('each option that a fix moves elsewhere exists there', () => {
  const ofOne = ['limit', 'window', 'policy', 'limits', 'key', 'cost', 'name']
  const ofMiddleware = Object.keys(MIDDLEWARE_ROWS).filter((name) => !Object.hasOwn(LIMITER_ROWS, name))
  expect([...MIDDLEWARE_OPTIONS].sort()).toEqual(ofMiddleware.sort())
  const beside = Object.keys(MIDDLEWARE_ROWS).filter((name) => !ofOne.includes(name))
  expect([...BESIDE_LIMITS].sort()).toEqual(beside.sort())
})

test('no fix of loginGuard writes a rule by the status', () => {
  for (const name of [...Object.keys(FOREIGN_OPTIONS), 'count', 'key']) {
    const { message } = errorOf(() => loginGuard({ field: 'user', [name]: fn } as never))
    expect(message).not.toMatch(/statusCode\s*[<>=!]/)
  }
})

const COUNT = "Write count: 'successful' for skipFailedRequests, count: 'failed' for skipSuccessfulRequests."
const FAILURES =
  'Leave it out: a guard counts failed logins. Use succeeded to say which responses are successes.'

/** What errors say, without their owner. */
const MESSAGES: readonly (readonly [() => unknown, string])[] = [
  [
    () => rateLimit({ windowMs: 900_000, max: 100, standardHeaders: true, legacyHeaders: false } as never),
    '3 options are wrong:\n- there is no option "windowMs". Write window instead.\n' +
      '- there is no option "max". Write limit instead.\n' +
      '- there are no options "standardHeaders" and "legacyHeaders". Write headers instead.',
  ],
  [
    () => rateLimit({ points: 6, duration: 60 } as never),
    '2 options are wrong:\n- there is no option "points". Write limit instead.\n' +
      '- there is no option "duration". Write window instead.',
  ],
  [
    () => rateLimit({ ...enough, limit: fn } as never),
    'limit must be a whole number of at least 1, got function fn. ' +
      'Write policy: (req) => …, which returns the policy for a request.',
  ],
  [
    () => rateLimit({ ...enough, ipv6Subnet: 56 } as never),
    'there is no option "ipv6Subnet". Write key: byIp({ ipv6Prefix: 56 }).',
  ],
  [
    () => rateLimit({ ...enough, keyGenerator: fn } as never),
    'there is no option "keyGenerator". Write key instead.',
  ],
  [
    () => rateLimit({ ...enough, handler: fn } as never),
    'there is no option "handler". Write onDenied, which is called with (req, res, next, decision).',
  ],
  [
    () => rateLimit({ ...enough, skipFailedRequests: false, skipSuccessfulRequests: true } as never),
    `there are no options "skipFailedRequests" and "skipSuccessfulRequests". ${COUNT}`,
  ],
  [
    () => createLimiter({ ...enough, handler: fn, headers: 'both' } as never),
    '2 options are wrong:\n- there is no option "handler". ' +
      'Write onDenied in the options of rateLimit.\n' +
      '- there is no option "headers". Write headers in the options of rateLimit.',
  ],
  ...['redis://me:pw@host', 'postgresql://me:pw@host', 'memcached://host'].map(
    (store) =>
      [
        () => rateLimit({ ...enough, store } as never),
        'store must be a store, got a string. Use memoryStore(), or the store of your database, ' +
          "such as redisStore(client) from 'headgate/redis'.",
      ] as const,
  ),
  [
    () => hono.rateLimit({ ...enough, windowMs: 60_000, keyGenerator: fn, handler: fn } as never),
    '3 options are wrong:\n- there is no option "windowMs". Write window instead.\n' +
      '- there is no option "keyGenerator". Write key instead.\n' +
      '- there is no option "handler". Write onDenied, which is called with (c, decision) and returns a Response.',
  ],
  [
    () => hono.rateLimit({ ...enough, skipFailedRequests: true } as never),
    'there is no option "skipFailedRequests". Write count: \'successful\'.',
  ],
  [
    () => hono.rateLimit({ limits: [{ limit: 5, windowMs: 60_000, handler: fn }] } as never),
    '2 options are wrong:\n- limits[0]: there is no option "windowMs". Write window instead.\n' +
      '- limits[0]: there is no option "handler". Write onDenied next to limits, not in it.',
  ],
  [
    () => rateLimit({ limits: [{ limit: 5, windowMs: 60_000 }] } as never),
    'limits[0]: there is no option "windowMs". Write window instead.',
  ],
  [
    () => rateLimit({ limits: [{ policy, store: headgate.memoryStore() }] } as never),
    'limits[0]: there is no option "store". Write store next to limits, not in it.',
  ],
  [
    () => loginGuard({ field: 'user', limit: 5, windowMs: 60_000 } as never),
    'there are no options "limit" and "windowMs". Write limits: { account: slidingWindow({ limit, window }) }.',
  ],
  ...['skipSuccessfulRequests', 'count'].map(
    (name) =>
      [
        () => loginGuard({ field: 'user', [name]: true } as never),
        `there is no option "${name}". ${FAILURES}`,
      ] as const,
  ),
  [
    () => loginGuard({ field: 'user', trustProxy: 1 } as never),
    'there is no option "trustProxy". Write address: byIp({ trustProxy: 1 }).',
  ],
  [
    () => tokenBucket({ limit: 5, window: '1m' } as never),
    '2 options are wrong:\n- there is no option "limit". Write capacity and refill.\n' +
      '- there is no option "window". Write every instead.',
  ],
  [
    () => slidingWindow({ points: 5, windowMs: 1000 } as never),
    '2 options are wrong:\n- there is no option "points". Write limit instead.\n' +
      '- there is no option "windowMs". Write window instead.',
  ],
  [
    () => consecutive({ limit: 5, windowMs: 60_000 } as never),
    'there is no option "windowMs". Leave it out: consecutive has no window.',
  ],
  [
    () => tokenBucket({ ...numbered, keyGenerator: fn } as never),
    'there is no option "keyGenerator". Known options: capacity, refill, every, name, debt, onChange.',
  ],
  [
    () => ban(policy, { after: 1, within: '1m', blockDuration: 600 } as never),
    'there is no option "blockDuration". Write for: \'10m\', with its unit.',
  ],
]

test.each(MESSAGES)(
  'an error says what to write in place of options that do not exist (%#)',
  (make, message) => {
    expect(errorOf(make).message.replace(/^\w+: /, '')).toBe(message)
  },
)

test('an unknown option hides no other problem', () => {
  const { message } = errorOf(() => tokenBucket({ capacity: 5, foo: 1 } as never))
  for (const problem of ['"foo"', 'refill must be', 'every must be']) expect(message).toContain(problem)
  const { message: noLimit } = errorOf(() => rateLimit({ delayMs: 5 } as never))
  for (const problem of ['"delayMs"', 'no limit is set']) expect(noLimit).toContain(problem)
})

test('an option of another package that is undefined counts as left out', () => {
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
