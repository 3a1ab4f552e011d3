import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import {
  concurrency,
  createLimiter,
  type Decision,
  type DecisionMessage,
  fixedWindow,
  rateLimit,
  requestDelay,
  tokenBucket,
} from 'headgate'
import { nextTurn } from '../../support/next-turn.js'
import { requestAndResponse } from '../../support/request-response.js'

const policy = fixedWindow({ limit: 5000, window: '1h' })

test('a client that has as many requests delayed as places are left is denied; one that hangs up makes room', async () => {
  const limiter = rateLimit({
    policy,
    key: () => 'ada',
    delay: requestDelay({ after: 0, by: () => 90_000, max: '2m' }),
  })
  const limited: Decision[] = []
  limiter.limiter.events.on('denied', (decision) => limited.push(decision))
  let passed = 0
  const all: ServerResponse[] = []
  let last: { readonly rateLimit?: Decision } = {}
  const start = () => {
    const { req, res } = requestAndResponse()
    all.push(res)
    limiter(req, res, () => {
      passed += 1
    })
    last = req
    return res
  }
  const delayed = Array.from({ length: 500 }, start)
  const denied = start()
  expect(denied).toMatchObject({ statusCode: 429, writableEnded: true })
  expect(denied.getHeader('Retry-After')).toBe('90')
  expect(limited).toMatchObject([{ allowed: false, remaining: 4499, retryAfterMs: 90_000 }])
  expect(last.rateLimit).toBe(limited[0])

  delayed[400]?.emit('close')
  await nextTurn()
  expect(start().writableEnded).toBe(false)
  expect(start().writableEnded).toBe(true)
  for (const res of all) res.emit('close')
  await nextTurn()
  expect(passed).toBe(0)
})

test('clients share the 1,000 places for delayed requests, so that a new one always finds one', () => {
  const of = new WeakMap<object, string>()
  const key = (req: object) => of.get(req)
  const limiter = rateLimit({ policy, key, delay: requestDelay({ after: 0, by: () => 90_000, max: '2m' }) })
  const all: ServerResponse[] = []
  /** Sends so many requests of a client. Returns how many are delayed. */
  function delayedOf(client: string, count: number): number {
    const sent = Array.from({ length: count }, () => {
      const { req, res } = requestAndResponse()
      of.set(req, client)
      limiter(req, res, () => {})
      return res
    })
    all.push(...sent)
    return sent.filter(({ writableEnded }) => !writableEnded).length
  }
  expect(delayedOf('greedy', 2000)).toBe(500)
  expect(delayedOf('also greedy', 2000)).toBe(250)
  expect([...'abcdefgh'].map((client) => delayedOf(client, 1))).toEqual(Array(8).fill(1))
  for (const res of all) res.emit('close')
})

test('510 requests at once, of which 500 can be delayed, are 510 decisions: 500 allowed, 10 denied', async () => {
  const limit = rateLimit({
    policy,
    key: () => 'ada',
    delay: requestDelay({ after: 0, by: async () => 90_000, max: '2m' }),
  })
  const seen: Record<'denied' | 'decision' | 'published', Decision[]> = {
    denied: [],
    decision: [],
    published: [],
  }
  for (const name of ['denied', 'decision'] as const)
    limit.limiter.events.on(name, (decision) => seen[name].push(decision))
  const publish = (message: unknown) => void seen.published.push((message as DecisionMessage).decision)
  subscribe('headgate:decision', publish)
  const all = Array.from({ length: 510 }, () => {
    const { req, res } = requestAndResponse()
    limit(req, res, () => {})
    return res
  })
  await nextTurn()
  unsubscribe('headgate:decision', publish)
  expect(all.filter(({ statusCode }) => statusCode === 429)).toHaveLength(10)
  const denied = seen.decision.filter(({ allowed }) => !allowed)
  expect([seen.decision.length, denied.length]).toEqual([510, 10])
  expect(seen.denied).toEqual(denied)
  expect(seen.published).toEqual(seen.decision)
  expect(denied[0]?.parts).toMatchObject([{ allowed: false, retryAfterMs: 90_000 }])
  for (const res of all) res.emit('close')
})

test.each([
  ['over the limit', { limit: 1, window: '1h' }, [true, false]],
  ['in report mode', { limit: 1, window: '1h', mode: 'report' }, [true, false]],
  ['that are not delayed', { policy }, [true, true]],
] as const)('requests %s are one decision each', (_which, options, outcomes) => {
  const limit = rateLimit({ ...options, delay: requestDelay({ after: 0, by: () => 0 }) })
  const decisions: boolean[] = []
  limit.limiter.events.on('decision', ({ allowed }) => decisions.push(allowed))
  for (let i = 0; i < 2; i++) {
    const { req, res } = requestAndResponse()
    limit(req, res, () => {})
  }
  expect(decisions).toEqual(outcomes)
})

test('a request whose by throws was charged, and is a decision', () => {
  const limit = rateLimit({ policy, delay: requestDelay({ after: 0, by: () => Number.NaN }) })
  const decisions: boolean[] = []
  limit.limiter.events.on('decision', ({ allowed }) => decisions.push(allowed))
  const { req, res } = requestAndResponse()
  const next = jest.fn()
  limit(req, res, next)
  expect(next).toHaveBeenCalledWith(expect.any(TypeError))
  expect(decisions).toEqual([true])
})

test('a delay is over at its time, and the request passes once', async () => {
  jest.useFakeTimers()
  try {
    const next = jest.fn()
    const { req, res } = requestAndResponse()
    rateLimit({ policy, delay: requestDelay({ after: 0, by: '500ms' }) })(req, res, next)
    await jest.advanceTimersByTimeAsync(499)
    expect(next).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(2)
    res.emit('close')
    expect(next.mock.calls).toEqual([[]])
  } finally {
    jest.useRealTimers()
  }
})

const limits = [{ policy }, { policy: tokenBucket({ capacity: 5, refill: 5, every: '1m' }) }]

test.each<[string, object, string]>([
  [
    'options without requestDelay',
    { policy, delay: { after: 1, by: '5ms' } },
    'rateLimit: delay must be what requestDelay returns, got an object. ' +
      "Write delay: requestDelay({ after: 5, by: '500ms' }).",
  ],
  [
    'a number',
    { policy, delay: requestDelay(500 as never) },
    'rateLimit: delay: options must be an object, got a number.',
  ],
  [
    'after',
    { policy, delay: requestDelay({ after: -1, by: '5ms' }) },
    'delay: after must be a whole number of at least 0',
  ],
  [
    'by',
    { policy, delay: requestDelay({ after: 1, by: '' }) },
    'delay: by must be a duration from 1 ms to 10 years',
  ],
  [
    'max',
    { policy, delay: requestDelay({ after: 1, by: '5ms', max: 0 }) },
    'delay: max must be a duration from 1 ms',
  ],
  [
    'mx',
    { policy, delay: requestDelay({ after: 1, by: '5ms', mx: 9 } as never) },
    'there is no option "mx". Did you mean max?',
  ],
  [
    'after at the limit',
    { limit: 5, window: '1m', delay: requestDelay({ after: 5, by: '500ms' }) },
    'rateLimit: delay.after must be below the limit of 5, got 5. Requests over the limit are denied, not delayed.',
  ],
  [
    "after at a policy's limit",
    { policy, delay: requestDelay({ after: 5000, by: '500ms' }) },
    'delay.after must be below the limit of 5000, got 5000.',
  ],
  [
    'concurrency',
    { policy: concurrency({ limit: 5 }), delay: requestDelay({ after: 1, by: '500ms' }) },
    'rateLimit: delay cannot be combined with concurrency: a request would hold its units while it waits. ' +
      'Put concurrency into its own middleware, after this one.',
  ],
  [
    'concurrency in limits',
    { limits: [{ policy: concurrency({ limit: 5 }) }], delay: requestDelay({ after: 1, by: '500ms' }) },
    'rateLimit: delay cannot be combined with concurrency',
  ],
  [
    'several limits',
    { limits, delay: requestDelay({ after: 1, by: '500ms' }) },
    'rateLimit: delay supports only one limit',
  ],
  [
    'delayAfter',
    { limit: 5, window: '1m', delayAfter: 5 },
    "Write delay: requestDelay({ after: 5, by: '500ms', max: '10s' }).",
  ],
])('wrong options throw: %s', (_what, options, message) => {
  expect(() => rateLimit(options as never)).toThrow(message)
})

test('createLimiter has no delay', () => {
  const options = { limit: 5, window: '1m', delay: requestDelay({ after: 1, by: '500ms' }) }
  expect(() => createLimiter(options)).toThrow('Write delay in the options of rateLimit.')
})
