import { createLimiter, memoryStore, rateLimit } from 'headgate'
import { promisingStore } from '../support/fault-stores.js'
import { EXPRESS_5, FRAMEWORKS, sayHello } from '../support/frameworks.js'
import { closeServers, serve, statuses, times } from '../support/http.js'
import { storeOf } from '../support/store-of.js'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

const STORES = [
  ['a store that answers at once', memoryStore],
  ['a store that answers later', promisingStore],
] as const

const fail = (): never => {
  throw new Error('the log is full')
}

describe.each(STORES)('with %s', (_which, makeStore) => {
  test.each(FRAMEWORKS)('a listener that throws never fails a request on $name', async ({ app }) => {
    for (const [mode, expected] of [
      ['enforce', [200, 429, 429]],
      ['report', [200, 200, 200]],
    ] as const) {
      const limiter = rateLimit({ limit: 1, window: '1h', store: makeStore(), mode })
      const listener = jest.fn(fail)
      limiter.limiter.events.on('denied', listener)
      const served = await serve(app(limiter, sayHello))
      expect(await statuses(served, times(3))).toEqual(expected)
      expect(listener).toHaveBeenCalledTimes(2)
    }
    expect(warnings()).toEqual(['HEADGATE_LISTENER_FAILED'])
  })

  test('a listener that throws never fails a charge', async () => {
    const limiter = createLimiter({ limit: 1, window: '1h', key: () => 'ada', store: makeStore() })
    limiter.events.on('denied', fail)
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: true })
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: false })
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: false })
    expect(warnings()).toEqual(['HEADGATE_LISTENER_FAILED'])
  })
})

test.each([undefined, null, 'text', 7, Object.create(null)])(
  'a listener may throw anything, such as %p',
  async (thrown) => {
    const limiter = createLimiter({ limit: 1, window: '1h', key: () => 'ada', store: memoryStore() })
    limiter.events.on('denied', () => {
      throw thrown
    })
    await limiter.charge({ ip: '192.0.2.7' })
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: false })
    expect(warnings()).toEqual(['HEADGATE_LISTENER_FAILED'])
  },
)

test('the warning holds what the listener threw', async () => {
  const limiter = createLimiter({ limit: 1, window: '1h', key: () => 'ada', store: memoryStore() })
  limiter.events.on('denied', fail)
  for (let i = 0; i < 2; i++) await limiter.charge({ ip: '192.0.2.7' })
  expect(warnings()).toEqual(['HEADGATE_LISTENER_FAILED'])
  expect(process.emitWarning).toHaveBeenCalledWith(
    expect.stringContaining('the log is full'),
    expect.anything(),
  )
})

test('a listener to storeError or refundFailed that throws changes no decision', async () => {
  const broken = storeOf({ charge: () => Promise.reject(new Error('down')), refund: fail })
  const limiter = createLimiter({ limit: 1, window: '1h', key: () => 'ada', store: broken })
  limiter.events.on('storeError', fail)
  expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: true, source: 'local' })

  const memory = memoryStore()
  const login = rateLimit({
    limit: 5,
    window: '1h',
    count: 'failed',
    store: storeOf({ ...memory, refund: fail }),
  })
  const listener = jest.fn(fail)
  login.limiter.events.on('refundFailed', listener)
  const served = await serve(EXPRESS_5.app(login, sayHello))
  expect(await statuses(served, times(2))).toEqual([200, 200])
  expect(listener).toHaveBeenCalledTimes(2)
  expect(warnings()).toEqual(['HEADGATE_LISTENER_FAILED'])
})
