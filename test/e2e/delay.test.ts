import { slowDown } from 'express-slow-down'
import { fixedWindow, memoryStore, type Store } from 'headgate'
import { type RateLimitOptions, rateLimit, requestDelay } from 'headgate/http'
import { brokenStore } from '../support/fault-stores.js'
import { EXPRESS_5, FRAMEWORKS, type Handler } from '../support/frameworks.js'
import { sendAndHangUp } from '../support/hang-up.js'
import { closeServers, type Served, send, serve, statuses, times } from '../support/http.js'
import { nextTurn } from '../support/next-turn.js'
import { PROTOCOLS } from '../support/protocols.js'

afterEach(closeServers)

const ok: Handler = (_req, res) => res.end('ok')
const hourly = (limit: number) => fixedWindow({ limit, window: '1h', startsAt: 'first-request' })

/**
 * Sends requests one after the other. Returns for how long each of them was delayed: time passes only while
 * a timer runs, until that timer.
 */
async function delaysOf(served: Served, count: number): Promise<number[]> {
  const delays: number[] = []
  for (let i = 0; i < count; i++) {
    const sinceMs = performance.now()
    let isAnswered = false
    const answer = send(served).finally(() => {
      isAnswered = true
    })
    while (!isAnswered) {
      jest.advanceTimersToNextTimer()
      await nextTurn()
    }
    expect(await answer).toMatchObject({ status: 200 })
    delays.push(performance.now() - sinceMs)
  }
  return delays
}

describe('requests are delayed as express-slow-down delays them', () => {
  beforeEach(() =>
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setInterval'] }),
  )
  afterEach(() => jest.useRealTimers())

  type Theirs = Parameters<typeof slowDown>[0]
  type Ours = Pick<RateLimitOptions, 'delay'>
  test.each<[string, Theirs, Ours, number[]]>([
    [
      'for each request beyond delayAfter, up to maxDelayMs',
      { delayAfter: 2, delayMs: (used) => (used - 2) * 30, maxDelayMs: 60 },
      { delay: requestDelay({ after: 2, by: '30ms', max: '60ms' }) },
      [0, 0, 30, 60, 60],
    ],
    [
      'for the same time each',
      { delayAfter: 1, delayMs: () => 30 },
      { delay: requestDelay({ after: 1, by: () => 30 }) },
      [0, 30, 30],
    ],
    [
      'by functions of the request',
      { delayAfter: () => 2, delayMs: async (used) => used * 10, maxDelayMs: () => 35 },
      { delay: requestDelay({ after: 0, by: async (used) => (used > 2 ? Math.min(used * 10, 35) : 0) }) },
      [0, 0, 30, 35],
    ],
  ])('%s', async (_how, theirs, ours, expected) => {
    const policy = hourly(1_000_000)
    const { app } = EXPRESS_5
    const served = {
      theirs: await serve(app(slowDown({ windowMs: 3_600_000, ...theirs }) as never, ok)),
      ours: await serve(app(rateLimit({ policy, headers: 'none', ...ours }), ok)),
    }
    expect(await delaysOf(served.theirs, expected.length)).toEqual(expected)
    expect(await delaysOf(served.ours, expected.length)).toEqual(expected)
  })
})

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  test('beyond the limit requests are denied at once', async () => {
    const limiter = rateLimit({ policy: hourly(3), delay: requestDelay({ after: 1, by: '20ms' }) })
    const served = await serve(app(limiter, ok))
    expect(await statuses(served, times(4))).toEqual([200, 200, 200, 429])
  })
})

describe.each(PROTOCOLS)('over $name', ({ serve: serveOver }) => {
  test('a request whose client hangs up meanwhile does not reach its handler, and leaves no timer', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const limiter = rateLimit({ policy: hourly(3), delay: requestDelay({ after: 0, by: '1h', max: '1h' }) })
    let handled = 0
    const endpoint = await serveOver((req, res) => {
      limiter(req, res, () => {
        handled += 1
      })
    })
    const before = timers()
    await sendAndHangUp(endpoint)
    expect(timers()).toBeLessThanOrEqual(before)
    expect(handled).toBe(0)
  })
})

test('what count refunds does not delay later requests', async () => {
  const limiter = rateLimit({
    policy: hourly(3),
    count: 'failed',
    delay: requestDelay({ after: 1, by: '1h', max: '1h' }),
  })
  const served = await serve(EXPRESS_5.app(limiter, ok))
  expect(await statuses(served, times(4))).toEqual([200, 200, 200, 200])
})

test.each<[string, { mode?: 'report'; store?: Store; onStoreError?: 'allow' }]>([
  ['in report mode', { mode: 'report' }],
  ['when the store fails', { store: brokenStore(), onStoreError: 'allow' }],
])('%s nothing is delayed', async (_when, options) => {
  const policy = hourly(3)
  const limiter = rateLimit({
    store: memoryStore(),
    policy,
    delay: requestDelay({ after: 0, by: '1h', max: '1h' }),
    ...options,
  })
  limiter.limiter.events.on('storeError', () => {})
  const served = await serve(EXPRESS_5.app(limiter, ok))
  expect(await statuses(served, times(2))).toEqual([200, 200])
})

test('what the function throws or returns wrongly goes to next', async () => {
  const by = (used: number) => (used === 1 ? (Number.NaN as number) : Promise.reject(new Error('no delay')))
  const limiter = rateLimit({ policy: hourly(3), delay: requestDelay({ after: 0, by }) })
  const errors: unknown[] = []
  const served = await serve((req, res) => {
    limiter(req, res, (error) => {
      errors.push((error as Error).message)
      res.end()
    })
  })
  await statuses(served, times(2))
  expect(errors).toEqual([
    'rateLimit: delay: by must be a function that returns milliseconds, got NaN.',
    'no delay',
  ])
})
