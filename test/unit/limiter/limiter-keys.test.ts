import { adjustments, byField, byIp, createLimiter, fixedWindow, memoryStore } from 'headgate'
import { rateLimit } from 'headgate/http'
import { requestAndResponse } from '../../support/request-response.js'
import { listenForWarnings } from '../../support/warnings.js'

const five = fixedWindow({ limit: 5, window: '1h' })
const store = () => memoryStore({ clock: () => 0 })

let warnings: () => unknown[]
beforeEach(() => {
  warnings = listenForWarnings()
})
afterEach(() => jest.restoreAllMocks())

test.each<[string, object]>([
  ['limit and window', { limit: 5, window: '1h' }],
  ['a policy', { policy: five }],
  ['an entry of limits', { limits: [{ policy: five }] }],
])('subjects that are not requests are an error if %s has no key, with the fix', async (_what, options) => {
  const limiter = createLimiter({ ...options, store: store() })
  const error =
    'byIp: subject must be a request, got an object. Pass the request, or an object with the fields'
  await expect(limiter.charge({ tenant: 'ada' })).rejects.toThrow(error)
  await expect(limiter.forget({ tenant: 'ada' })).rejects.toThrow(error)
  await expect(limiter.waitFor({ tenant: 'ada' })).rejects.toThrow(error)
})

test('requests are limited by address where no key is given, without a warning', async () => {
  const limiter = createLimiter({ policy: five, store: store() })
  expect(await limiter.charge({ ip: '192.0.2.1' })).toMatchObject({ remaining: 4 })
  expect(await limiter.charge({ ip: '192.0.2.2' })).toMatchObject({ remaining: 4 })
  expect(warnings()).toEqual([])
})

test.each([
  ['limit and window', { limit: 5, window: '1h' }],
  ['an entry of limits', { limits: [{ policy: five }] }],
])('the middleware limits by address where %s has no key', async (_what, options) => {
  const limiter = rateLimit({ ...options, store: store() })
  const { req, res } = requestAndResponse()
  limiter(req, res, () => undefined)
  expect(await limiter.limiter.peek(req)).toMatchObject({ remaining: 4 })
  const other = Object.assign(requestAndResponse().req, { ip: '192.0.2.2' })
  expect(await limiter.limiter.peek(other)).toMatchObject({ remaining: 5 })
})

describe('forget of an account alone', () => {
  const limits = [
    { name: 'ip', policy: five, key: byIp() },
    { name: 'account', policy: five, key: byField('username') },
  ]
  const ada = { body: { username: 'ada' } }
  const from = (source: object) => ({ ...source, ...ada })
  const makers = [
    ['createLimiter', () => createLimiter({ limits, store: store() })],
    ['rateLimit', () => rateLimit({ limits, store: store() }).limiter as ReturnType<typeof createLimiter>],
  ] as const

  test.each(makers)(
    'frees the account and leaves the address, without a warning (%s)',
    async (_maker, make) => {
      const limiter = make()
      const login = from({ ip: '192.0.2.1' })
      for (let i = 0; i < 5; i++) await limiter.charge(login)
      expect(await limiter.charge(login)).toMatchObject({ allowed: false })
      await adjustments(limiter).forget(ada)
      expect(await limiter.peek(login)).toMatchObject({ parts: [{ remaining: 0 }, { remaining: 5 }] })
      expect(warnings()).toEqual([])
    },
  )

  test.each(makers)('leaves the units that requests without an address took (%s)', async (_maker, make) => {
    const limiter = make()
    const login = from({ socket: { remoteAddress: undefined } })
    for (let i = 0; i < 3; i++) await limiter.charge(login)
    await adjustments(limiter).forget(ada)
    expect(await limiter.peek(login)).toMatchObject({ parts: [{ remaining: 2 }, { remaining: 5 }] })
  })
})
