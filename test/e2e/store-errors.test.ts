import {
  type Decision,
  memoryStore,
  type RateLimitOptions,
  rateLimit,
  type Store,
  StoreError,
} from 'headgate'
import {
  brokenStore,
  hangingStore,
  lateStore,
  NONSENSE,
  storeThat,
  throwingStore,
} from '../support/fault-stores.js'
import { EXPRESS_5, FRAMEWORKS, type Handler } from '../support/frameworks.js'
import { closeServers, send, serve, statuses, times } from '../support/http.js'
import { nextTurn } from '../support/next-turn.js'
import { chargeStore } from '../support/store-calls.js'

afterEach(closeServers)

type Answer = RateLimitOptions<never, never>['onStoreError']

/** Ways to fail, each with what the error says. */
const FAULTS: readonly (readonly [string, () => Store, RegExp])[] = [
  ['rejects', brokenStore, /^faulty: connection lost$/],
  ['throws', throwingStore, /^faulty: not connected$/],
  ['hangs', hangingStore, /^faulty: no reply within 20 ms$/],
  [
    'answers nonsense at once',
    () => storeThat(() => 'OK'),
    /^faulty: apply did not return a(n array of one outcome| valid result for a charge)$/,
  ],
  ['answers nonsense later', () => storeThat(async () => [{}]), /valid result for a charge$/],
  ['rejects with a string', () => storeThat(() => Promise.reject('ECONNRESET')), /^faulty: ECONNRESET$/],
  ['rejects with nothing', () => storeThat(() => Promise.reject()), /^faulty: undefined was thrown$/],
  [
    'answers with a thenable that throws',
    () =>
      storeThat(() => ({
        // biome-ignore lint/suspicious/noThenProperty: a thenable is what this test is about
        then() {
          throw new Error('bad thenable')
        },
      })),
    /^faulty: bad thenable$/,
  ],
]

function limiterApp(store: Store, onStoreError: Answer) {
  const limiter = rateLimit({
    limit: 2,
    window: '1m',
    store,
    timeout: '20ms',
    onStoreError: onStoreError as 'allow',
  })
  const errors: StoreError[] = []
  limiter.limiter.events.on('storeError', (error) => errors.push(error))
  const sources: unknown[] = []
  const handler: Handler = (req, res) => {
    sources.push((req as { rateLimit?: Decision }).rateLimit?.source)
    res.end('hello')
  }
  return { limiter, errors, sources, handler }
}

describe.each(FAULTS)('with a store that %s', (_fault, makeStore, says) => {
  async function ask(onStoreError: Answer, app = EXPRESS_5.app) {
    const { limiter, errors, sources, handler } = limiterApp(makeStore(), onStoreError)
    const served = await serve(app(limiter, handler))
    const sent = { headers: { accept: 'application/json' } }
    const answers = [await send(served, sent), await send(served, sent), await send(served, sent)] as const
    return { answers, statuses: answers.map(({ status }) => status), errors, sources }
  }

  test.each(FRAMEWORKS)(
    "'allow' passes every request, with a storeError each (on $name)",
    async ({ app }) => {
      const { answers, statuses, errors, sources } = await ask('allow', app)
      expect(statuses).toEqual([200, 200, 200])
      expect(sources).toEqual(['fail-open', 'fail-open', 'fail-open'])
      expect(answers[0].headers).not.toHaveProperty('x-ratelimit-limit')
      expect(errors).toHaveLength(3)
      expect(errors[0]).toBeInstanceOf(StoreError)
      expect(errors[0]?.store).toBe('faulty')
      expect(errors[0]?.message).toMatch(says)
    },
  )

  test("'deny' answers 503 with Retry-After", async () => {
    const { answers, sources } = await ask('deny')
    expect(sources).toEqual([])
    const [{ status, headers, text }] = answers
    expect(status).toBe(503)
    expect(headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' })
    expect(JSON.parse(text)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      title: 'Service temporarily unavailable',
      status: 503,
      detail: 'Try again in 1 second.',
    })
  })

  test("'local' limits in this process", async () => {
    const { answers, statuses, sources } = await ask('local')
    expect(statuses).toEqual([200, 200, 429])
    expect(sources).toEqual(['local', 'local'])
    expect(answers[0].headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' })
  })

  test('onStoreError may be a function, synchronous or async', async () => {
    expect((await ask((): 'deny' => 'deny')).statuses).toEqual([503, 503, 503])
    expect((await ask(async (): Promise<'local'> => 'local')).statuses).toEqual([200, 200, 429])
  })

  test('a function that fails or returns nonsense is an error for next, never a pass', async () => {
    const fail = (): never => {
      throw new Error('no choice')
    }
    for (const choose of [fail, async (): Promise<never> => fail()]) {
      const { answers, sources } = await ask(choose)
      expect(answers[0]).toMatchObject({ status: 500, text: 'no choice' })
      expect(sources).toEqual([])
    }
    for (const choice of ['open', undefined, true]) {
      const { answers, sources } = await ask((() => choice) as () => 'allow')
      expect(answers[0].status).toBe(500)
      expect(answers[0].text).toMatch(/^rateLimit: onStoreError must be one of 'allow', 'deny', 'local', got/)
      expect(sources).toEqual([])
    }
  })
})

test.each(NONSENSE)('an answer of %s is a store error', async (_what, answer) => {
  for (const store of [storeThat(() => answer), storeThat(async () => answer)]) {
    const { limiter, errors, handler } = limiterApp(store, 'deny')
    const served = await serve(EXPRESS_5.app(limiter, handler))
    expect((await send(served)).status).toBe(503)
    expect(errors[0]?.message).toMatch(
      /apply did not return a(n array of one outcome| valid result for a charge)$/,
    )
    expect(errors[0]).toHaveProperty('cause')
  }
})

// Object.create(null) has no toString.
test.each(['throws', 'rejects'])(
  'a store that %s with an object without a prototype fails like any other',
  async (how) => {
    const fail = () => {
      throw Object.create(null)
    }
    const { limiter, handler } = limiterApp(storeThat(how === 'throws' ? fail : async () => fail()), 'deny')
    const served = await serve(EXPRESS_5.app(limiter, handler))
    expect((await send(served)).status).toBe(503)
  },
  1000,
)

test('a function onStoreError gets the error and the request', async () => {
  const choose = jest.fn(() => 'allow' as const)
  const { limiter, handler } = limiterApp(brokenStore(), choose)
  const served = await serve(EXPRESS_5.app(limiter, handler))
  await send(served, { path: '/where?it=failed' })
  expect(choose).toHaveBeenCalledTimes(1)
  expect(choose).toHaveBeenCalledWith(
    expect.any(StoreError),
    expect.objectContaining({ url: '/where?it=failed' }),
  )
})

test('a request waits for the store for timeoutMs, and an answer in time decides it', async () => {
  const store = lateStore()
  const { limiter, errors, sources, handler } = limiterApp(store, 'deny')
  const served = await serve(
    EXPRESS_5.app((req, res, next) => {
      limiter(req, res, next)
      store.answerAll()
    }, handler),
  )
  expect(await statuses(served, times(3))).toEqual([200, 200, 429])
  expect(sources).toEqual(['store', 'store'])
  expect(errors).toEqual([])
})

test.each(['answerAll', 'failAll'] as const)('a late answer is dropped (%s)', async (late) => {
  const store = lateStore()
  const { limiter, errors, sources, handler } = limiterApp(store, 'allow')
  const served = await serve(EXPRESS_5.app(limiter, handler))
  expect((await send(served)).status).toBe(200)
  store[late](new Error('too late'))
  await nextTurn()
  expect(errors.map(({ message }) => message)).toEqual(['faulty: no reply within 20 ms'])
  expect(sources).toEqual(['fail-open'])
})

test("a refund of a 'local' decision goes to the fallback store", async () => {
  const refund = jest.fn()
  const store = { ...brokenStore(), refund }
  const limiter = rateLimit({ limit: 1, window: '1m', store, onStoreError: 'local', count: 'failed' })
  limiter.limiter.events.on('storeError', () => undefined)
  let status = 200
  const served = await serve(
    EXPRESS_5.app(limiter, (_req, res) => {
      res.statusCode = status
      res.end()
    }),
  )
  expect(await statuses(served, times(3))).toEqual([200, 200, 200])
  status = 401
  expect(await statuses(served, times(2))).toEqual([401, 429])
  expect(refund).not.toHaveBeenCalled()
})

test('a charge that the store did not decide is not refunded', async () => {
  const refund = jest.fn()
  const store = { ...brokenStore(), refund }
  const limiter = rateLimit({ limit: 1, window: '1m', store, onStoreError: 'allow', count: 'failed' })
  const failed = jest.fn()
  limiter.limiter.events.on('storeError', () => undefined).on('refundFailed', failed)
  const served = await serve(EXPRESS_5.app(limiter, (_req, res) => res.end()))
  expect(await statuses(served, times(2))).toEqual([200, 200])
  expect(refund).not.toHaveBeenCalled()
  expect(failed).not.toHaveBeenCalled()
})

test('a store that recovers decides again at once, while the breaker is closed', async () => {
  const memory = memoryStore()
  let isDown = true
  const store = storeThat(async (charges) => {
    if (isDown) throw new StoreError('faulty', 'down')
    return chargeStore(memory, charges)
  })
  const { limiter, sources, handler } = limiterApp(store, 'allow')
  const served = await serve(EXPRESS_5.app(limiter, handler))
  await statuses(served, times(3))
  isDown = false
  expect(await statuses(served, times(3))).toEqual([200, 200, 429])
  expect(sources).toEqual(['fail-open', 'fail-open', 'fail-open', 'store', 'store'])
})
