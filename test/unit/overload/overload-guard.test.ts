import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  adjustments,
  type Decision,
  memoryStore,
  overloadGuard,
  rateLimit,
  responseFor,
  waitFor,
} from 'headgate/http'
import { customStore } from 'headgate/store'
import { DisconnectedError } from '../../../src/keys/request.js'
import { forgetWarnings } from '../../../src/util/warn-once.js'
import { requestAndResponse } from '../../support/request-response.js'

const one = { minLimit: 1, maxLimit: 1, maxWait: 0 } as const

/** A subject with an address, as limiters take it. */
const from = (ip: string) => ({ ip, socket: { remoteAddress: ip } }) as never

test('without listeners no decision is made, and next is called in the same tick', () => {
  const key = jest.fn(() => 'ada')
  const guard = overloadGuard({ key })
  const next = jest.fn()
  const first = requestAndResponse()
  guard(first.req, first.res, () => first.res.end())
  const { req, res } = requestAndResponse()
  guard(req, res, next)
  expect(next.mock.calls).toEqual([[]])
  expect(key.mock.calls).toEqual([[first.req]])
  expect(req.rateLimit).toBeUndefined()
  expect(guard.status()).toEqual({
    limit: 1000,
    running: 1,
    waiting: 0,
    passingShare: 1,
    deniedShare: 0,
    isProbing: false,
  })
  res.end()
  expect(guard.status().running).toBe(0)
})

test('a key function that fails does so from the first request on, and not only under overload', () => {
  const guard = overloadGuard({ key: (req) => (req as never as { user: { id: string } }).user.id })
  const errors = [1, 2].map(() => {
    const next = jest.fn()
    const { req, res } = requestAndResponse()
    guard(req, res, next)
    res.end()
    return next.mock.calls
  })
  const failed = [[expect.objectContaining({ name: 'TypeError' })]]
  expect([errors, guard.status().running]).toEqual([[failed, failed], 0])
})

test('events and the channel tell each decision, with the figures of the limit overload', () => {
  const guard = overloadGuard({ name: 'api', ...one })
  const events: [string, Decision][] = []
  const messages: unknown[] = []
  const listen = (message: unknown) => messages.push(message)
  guard.limiter.events.on('decision', (decision) => events.push(['decision', decision]))
  guard.limiter.events.on('denied', (decision) => events.push(['denied', decision]))
  subscribe('headgate:decision', listen)
  const requests = [requestAndResponse(), requestAndResponse()]
  for (const { req, res } of requests) guard(req, res, () => undefined)
  unsubscribe('headgate:decision', listen)
  const figures = { limitName: 'overload', limit: 1, remaining: 0, source: 'overload' }
  const part = { name: 'overload', cost: 1, quotaUnit: 'concurrent-requests', limit: 1, remaining: 0 }
  const allowed = { ...figures, allowed: true, retryAfterMs: 0, parts: [{ ...part, allowed: true }] }
  const denied = { ...figures, allowed: false, parts: [{ ...part, allowed: false }] }
  expect(events).toMatchObject([
    ['decision', allowed],
    ['denied', denied],
    ['decision', denied],
  ])
  expect(messages).toMatchObject([
    { limiter: 'api', mode: 'enforce', decision: allowed, subject: requests[0]?.req },
    { limiter: 'api', mode: 'enforce', decision: denied, subject: requests[1]?.req },
  ])
  expect(requests.map(({ res }) => res.statusCode)).toEqual([200, 503])
})

test.each(['enforce', 'report'] as const)(
  'a request whose client left before its address was read is no decision of a guard, mode %s',
  (mode) => {
    const key = () => {
      throw new DisconnectedError()
    }
    const guard = overloadGuard({ ...one, key, mode })
    const decisions: unknown[] = []
    guard.limiter.events.on('decision', (decision) => decisions.push(decision))
    const { req, res } = requestAndResponse()
    const next = jest.fn()
    guard(req, res, next)
    expect([decisions, req.rateLimit, next.mock.calls.length, res.writableEnded]).toEqual(
      mode === 'report' ? [[], undefined, 1, false] : [[], undefined, 0, true],
    )
    expect(guard.status().running).toBe(0)
  },
)

test('limiter.charge takes a place until it is released, and peek takes none', async () => {
  const { limiter, status } = overloadGuard(one)
  const first = await limiter.charge(from('192.0.2.1'))
  const second = await limiter.charge(from('192.0.2.1'))
  expect([first, second, await limiter.peek(from('192.0.2.1'))]).toMatchObject([
    { allowed: true, remaining: 0 },
    { allowed: false, source: 'overload' },
    { allowed: true, remaining: 0, parts: [{ cost: 0 }] },
  ])
  await limiter.release(second)
  expect(status().running).toBe(1)
  await limiter.release(first)
  await limiter.release(first)
  expect(status().running).toBe(0)
  expect(await limiter.peek(from('192.0.2.1'))).toMatchObject({ remaining: 1 })
  await expect(limiter.charge(from('192.0.2.1'), { cost: 2 })).rejects.toThrow(
    'overloadGuard: cost must be 0 or 1, got 2. A request takes one place.',
  )
})

test('adjustments and waitFor reject, and say what to use: a guard counts no units of clients', async () => {
  const { limiter, status } = overloadGuard(one)
  const changes = adjustments(limiter)
  const decision = await limiter.charge(from('192.0.2.1'))
  const ada = from('192.0.2.1')
  const calls = [
    () => changes.refund(decision),
    () => changes.adjust(decision, 2),
    () => changes.forget(ada),
    () => changes.reward(ada, 1),
    () => changes.penalize(ada, 1),
    () => changes.blockFor(ada, '1m'),
    () => waitFor(limiter, ada, { maxWait: '1s' }),
  ]
  const messages = await Promise.all(calls.map((call) => call().then(String, String)))
  const why = (name: string) =>
    `TypeError: overloadGuard: there is no ${name} for a guard, which counts no units of clients.`
  expect(messages).toEqual([
    `${why('refund')} To give a place back, call limiter.release(decision).`,
    `${why('adjust')} A request takes one place.`,
    `${why('forget')} A denied client may try again at any time.`,
    `${why('reward')} To serve a request first, use its option priority.`,
    `${why('penalize')} To keep a client out, use its option block.`,
    `${why('blockFor')} To keep a client out, use its option block.`,
    `${why('waitFor')} Call guard.run(fn), or limiter.charge, which wait for maxWait.`,
  ])
  expect(status().running).toBe(1)
  await limiter.close()
  limiter.mode = 'report'
})

test('responseFor makes a denial of a guard a 503', async () => {
  const { limiter } = overloadGuard(one)
  await limiter.charge(from('192.0.2.1'))
  const { status, headers } = responseFor(await limiter.charge(from('192.0.2.2')))
  expect({ status, retryAfter: Number(headers['Retry-After']) > 0 }).toEqual({
    status: 503,
    retryAfter: true,
  })
})

test('describe tells the numbers of the guard', () => {
  const { limiter } = overloadGuard({
    name: 'api',
    minLimit: 5,
    maxLimit: 50,
    maxWait: '20ms',
    mode: 'report',
  })
  expect(limiter.describe()).toMatchObject({
    name: 'api',
    mode: { value: 'report', from: 'code' },
    limits: [{ name: 'overload', policy: { kind: 'concurrency', limit: 50 } }],
    overload: { minLimit: 5, maxLimit: 50, maxWaitMs: 20 },
  })
  expect(rateLimit({ limit: 1, window: '1s' }).limiter.describe().overload).toBeUndefined()
})

/** Options of which one is wrong, and what the error says. */
const WRONG: readonly (readonly [object, string])[] = [
  [{ priority: 'critical' }, 'priority must be a function, got a string'],
  [{ tenant: 7 }, 'tenant must be a function, got a number'],
  [{ tenant: () => 'a', weight: { a: 2 } }, 'weight must be a function, got an object'],
  [
    { weight: () => 2 },
    'weight requires tenant. Write tenant: (req) => …, which names the tenant of a request.',
  ],
  [
    { priority: async () => 'bulk' },
    'priority must not be an async function. Look it up in middleware before the guard',
  ],
  [{ tenant: async () => 'a' }, 'tenant must not be an async function.'],
  [
    { tenant: () => 'a', weight: async () => 2 },
    'weight must not be an async function. Load the weights in advance, and read them from a Map.',
  ],
  [{ routeClass: async () => 'a' }, 'routeClass must not be an async function.'],
  [{ routeClass: 'all' }, 'routeClass must be a function, got a string'],
  [{ minLimit: 0 }, 'minLimit must be a whole number from 1 to 1000000, got 0. Did you mean minLimit: 1?'],
  [{ maxLimit: '50' }, 'got "50". Did you mean maxLimit: 50?'],
  [{ minLimit: 9, maxLimit: 5 }, 'minLimit must be at most maxLimit (5), got 9. Raise maxLimit.'],
  [{ minLimit: Number.NaN }, 'got NaN'],
  [{ maxWait: 100 }, "got 100. Write '100s' or '100ms'"],
  [{ maxWait: '1m' }, "maxWait must be at most '10s', got \"1m\". Write maxWait: '10s', or a shorter time."],
  [
    { maxWait: -1 },
    "maxWait must be a duration from 1 ms to 10s: whole milliseconds, or a string such as '10s'",
  ],
  [{ maxWait: 'soon' }, `got "soon". Did you mean maxWait: '10s'?`],
  [{ maxWait: null }, 'maxWait must be a duration from 1 ms to 10s'],
  [{ skip: true }, 'skip must be a function, got true'],
  [{ allow: '192.0.2.7' }, 'allow must be an array of IP addresses and CIDR ranges, got "192.0.2.7"'],
  [{ message: 7 }, 'got 7. Use onDenied to write the whole response.'],
  [{ onDenied: 'no' }, 'onDenied must be a function, got a string'],
  [{ prefix: 'a b' }, 'prefix must be 1 to 64 letters, digits, dots, dashes or underscores'],
  [{ store: {} }, 'store must be a store, got an object. Write store: redisStore(client).'],
  [
    { store: memoryStore() },
    'store requires tenant. Leave store out: without tenants, it has nothing to share.',
  ],
  [
    { store: memoryStore(), tenant: () => 'a' },
    "store requires name. Write name: 'api', the same in all processes.",
  ],
  [
    { store: customStore({ name: 'bare', apply: () => [] }), tenant: () => 'a', name: 'api' },
    'store must support documents, but bare does not. Pass the option documents to its builder.',
  ],
  [{ routeClass: null }, 'routeClass must be a function, got null'],
  [{ statusCode: '503' }, 'got "503". Did you mean statusCode: 503?'],
  [{ maxLimit: 1.5 }, 'got 1.5. Did you mean maxLimit: 2?'],
  [{ key: [] }, 'key must be a function, or an array of 1 to 8 functions, got an array of 0'],
  [{ statusCode: 200 }, 'statusCode must be a whole number from 400 to 599, got 200'],
  [{ name: 'a b' }, "Did you mean name: 'a-b'?"],
  [{ mode: 'reports' }, "Did you mean mode: 'report'?"],
  [{ block: ['localhost'] }, 'block must hold IP addresses and CIDR ranges, got "localhost"'],
  [{ key: 'ip' }, 'key must be a function, or an array of 1 to 8 functions, got a string'],
  [{ limit: 100 }, 'there is no option "limit". Leave it out: the guard finds its limit.'],
  [
    { onStoreError: 'allow' },
    'there is no option "onStoreError". Leave it out: the guard counts requests in this process only.',
  ],
  [{ maxConcurrency: 5 }, 'there is no option "maxConcurrency". Write maxLimit instead.'],
  [{ timeout: '1s' }, 'there is no option "timeout". Write maxWait instead.'],
  [{ maxEventLoopDelay: 100 }, 'Leave it out: the guard measures the event loop itself.'],
  [{ headers: 'draft' }, 'Leave it out: the response to a denied request has no quota headers.'],
  [{ prioritty: () => 'bulk' }, 'there is no option "prioritty". Did you mean priority?'],
  [{ minLimit: 0, maxLimit: 0 }, '2 options are wrong'],
  [{ url: '/', headers: {}, method: 'GET' }, 'options must be an options object, got a request.'],
]

function messageOf(options: object): string {
  try {
    return String(overloadGuard(options as never))
  } catch (error) {
    return String(error)
  }
}

describe('wrong options:', () => {
  test.each(WRONG)('%p is a TypeError with the fix', (wrong, says) => {
    const make = () => overloadGuard(wrong as never)
    expect(make).toThrow(TypeError)
    expect(make).toThrow(/^overloadGuard: /)
    expect(make).toThrow(says)
  })

  test('each option has a wrong value in the table', () => {
    const known = /Known options: (.*?)\./.exec(messageOf({ zzzzzzzz: 1 }))?.[1]?.split(', ') ?? []
    expect(known.length).toBeGreaterThan(15)
    const given = new Set(WRONG.flatMap(([options]) => Object.keys(options)))
    expect(known.filter((option) => !given.has(option))).toEqual([])
  })

  test('a call with other arguments is a TypeError that names the entries', () => {
    expect(() => overloadGuard()({} as never, {} as never, undefined as never)).toThrow(
      'overloadGuard: call the function that it returns with (req, res, next).',
    )
  })
})

test('a request that was responded to while its key was found takes no place', async () => {
  let find: (key: string) => void = () => undefined
  const found = new Promise<string>((resolve) => {
    find = resolve
  })
  const key = () => found
  const guard = overloadGuard({ ...one, key })
  guard.limiter.events.on('decision', () => undefined)
  const { req, res } = requestAndResponse()
  const next = jest.fn()
  const passed = guard(req, res, next)
  res.writeHead(504).end()
  find('ada')
  await passed
  await new Promise(setImmediate)
  expect([next.mock.calls, guard.status().running]).toEqual([[], 0])
})

test.each(['priority', 'tenant', 'weight'] as const)(
  'a promise of %s that rejects is an error of the request, and no unhandled rejection',
  async (option) => {
    const unhandled = jest.fn()
    process.on('unhandledRejection', unhandled)
    const guard = overloadGuard({
      tenant: () => 'ada',
      [option]: () => Promise.reject(new Error('boom')),
    })
    const { req, res } = requestAndResponse()
    const next = jest.fn()
    guard(req, res, next)
    await new Promise(setImmediate)
    process.off('unhandledRejection', unhandled)
    const message = expect.stringContaining(`${option} must not return a promise`)
    expect([next.mock.calls, unhandled.mock.calls]).toEqual([[[expect.objectContaining({ message })]], []])
  },
)

test.each([
  [undefined, 'it returned undefined, not a string'],
  [7, 'it returned number, not a string'],
  [null, 'it returned null, not a string'],
  [Promise.resolve('a'), 'it returned a promise, not a string'],
  ['reject', 'it returned a promise, which rejected: boom'],
])('a routeClass that returns %p has failed', async (given, reason) => {
  forgetWarnings()
  const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const routeClass = () => (given === 'reject' ? Promise.reject(new Error('boom')) : given) as never
  const guard = overloadGuard({ routeClass })
  const { req, res } = requestAndResponse()
  guard(req, res, () => res.end())
  await new Promise(setImmediate)
  const messages = warnings.mock.calls.map(([message]) => String(message))
  warnings.mockRestore()
  expect([messages, guard.status().running]).toEqual([
    [expect.stringContaining(`routeClass failed (${reason})`)],
    0,
  ])
})
