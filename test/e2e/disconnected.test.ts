import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  byField,
  byIp,
  byUser,
  createLimiter,
  fixedWindow,
  type LimiterOptions,
  loginGuard,
  type RateLimitOptions,
  rateLimit,
  slidingWindow,
} from 'headgate'
import { promisingStore } from '../support/fault-stores.js'
import { FRAMEWORKS, type Framework, type Handler, NODE_HTTP, sayHello } from '../support/frameworks.js'
import { gate, sendAndHangUp } from '../support/hang-up.js'
import { closeServers } from '../support/http.js'
import { nextTurn } from '../support/next-turn.js'
import { PROTOCOLS, type Protocol } from '../support/protocols.js'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

type Options = Partial<RateLimitOptions<IncomingMessage, ServerResponse>>

/** Ways to need the address of a request. */
const READING: readonly (readonly [string, Options])[] = [
  ['the default key', {}],
  ['byIp', { key: byIp() }],
  ['byIp behind proxies', { key: byIp({ trustProxy: 'loopback' }) }],
  ['an anonymous user', { key: byUser() }],
  ['a key that is looked up', { key: [async () => 'a', byIp()] }],
  ['one of several limits', { limits: [{ policy: slidingWindow({ limit: 1, window: '1m' }), key: byIp() }] }],
  ['a malformed field', { key: byField('username') }],
  ['a function around byIp', { key: async (req: IncomingMessage) => `${await byIp()(req)}!` }],
  ['allow, with another key', { key: () => 'ada', allow: ['192.0.2.1'] }],
  ['block, with another key', { key: () => 'ada', block: ['127.0.0.1'] }],
]

/**
 * Sends requests that hang up before they get to the limiter. Returns how many reach the handler behind it.
 */
async function sendGone(protocol: Protocol, framework: Framework, limiter: Handler): Promise<number> {
  const { handler, open } = gate()
  const reached = jest.fn(sayHello)
  const endpoint = await protocol.serve(framework.app(handler, limiter, reached as Handler))
  for (let i = 0; i < 3; i++) await sendAndHangUp(endpoint, { method: 'POST' })
  expect(open()).toBe(3)
  await nextTurn()
  return reached.mock.calls.length
}

const SERVED = PROTOCOLS.flatMap((protocol) => {
  const frameworks = protocol.name === 'HTTP/1.1' ? FRAMEWORKS : [NODE_HTTP]
  return frameworks.map((framework) => [protocol.name, framework.name, protocol, framework] as const)
})

describe.each(SERVED)('over %s on %s', (_protocol, _framework, protocol, framework) => {
  test.each(READING)(
    'a request that is gone before its address is read by %s is denied, uncharged, and emitted as limited',
    async (_what, by) => {
      const store = promisingStore()
      const middleware = rateLimit({ store, ...(by.limits ? {} : { limit: 1, window: '1m' }), ...by })
      const [limited, storeError] = [jest.fn(), jest.fn()]
      middleware.limiter.events.on('denied', limited).on('storeError', storeError)
      expect(await sendGone(protocol, framework, middleware)).toBe(0)
      expect(store.charges).toEqual([])
      expect(limited.mock.calls.map(([{ source }]) => source)).toEqual([
        'fail-closed',
        'fail-closed',
        'fail-closed',
      ])
      expect(storeError).not.toHaveBeenCalled()
      expect(warnings()).not.toContain('HEADGATE_NO_ADDRESS')
    },
  )

  test('a login guard denies a request that is gone before its address is read, and charges nothing', async () => {
    const store = promisingStore()
    const guard = loginGuard({ account: () => 'ada', store })
    expect(await sendGone(protocol, framework, guard)).toBe(0)
    expect(store.charges).toEqual([])
  })

  test('a request that is gone is charged as any other by a key that needs no address', async () => {
    const limiter = rateLimit({ limit: 1, window: '1m', store: promisingStore(), key: () => 'ada' })
    expect(await sendGone(protocol, framework, limiter)).toBe(1)
  })
})

test('createLimiter denies a request that is gone before its address is read, and charges nothing', async () => {
  const store = promisingStore()
  const options: LimiterOptions<unknown> = { limit: 1, window: '1m', store }
  const limiter = createLimiter(options)
  const gone = { socket: { destroyed: true, remoteAddress: undefined } }
  const goneStream = { socket: undefined, stream: { destroyed: true } }
  for (const req of [gone, goneStream, gone]) {
    expect(await limiter.charge(req)).toMatchObject({ allowed: false, source: 'fail-closed', parts: [] })
  }
  expect(store.charges).toEqual([])
  await expect(limiter.forget(gone)).rejects.toThrow("the request's connection has closed")
})

test('forget reads only the keys of the limits that it names', async () => {
  const policy = fixedWindow({ limit: 1, window: '1h' })
  const limiter = createLimiter<{ socket: { destroyed: boolean } }>({
    limits: [
      { name: 'account', policy, key: () => 'ada' },
      { name: 'address', policy },
    ],
  })
  const gone = { socket: { destroyed: true, remoteAddress: undefined } }
  const live = { socket: { destroyed: false, remoteAddress: '203.0.113.5' } }
  expect(await limiter.charge(live)).toMatchObject({ allowed: true })
  await limiter.forget(gone, { limits: ['account'] })
  expect((await limiter.peek(live)).parts).toMatchObject([{ remaining: 1 }, { remaining: 0 }])
})

test('a live connection without an address is charged, and so is a closed one with an address', async () => {
  const limiter = createLimiter({ limit: 1, window: '1m' })
  const unixSocket = { socket: { destroyed: false, remoteAddress: undefined } }
  const closed = { socket: { destroyed: true, remoteAddress: '192.0.2.1' } }
  for (const req of [unixSocket, closed]) {
    expect(await limiter.charge(req)).toMatchObject({ allowed: true, source: 'store' })
    expect(await limiter.charge(req)).toMatchObject({ allowed: false, source: 'store' })
  }
  expect(warnings()).toEqual(['HEADGATE_NO_ADDRESS'])
})
