import type { IncomingMessage, ServerResponse } from 'node:http'
import { byIp, byUser, loginGuard, type RateLimitOptions, rateLimit, tokenBucket } from 'headgate'
import type { Parts } from '../../src/testing/conformance/store-calls.js'
import { promisingStore } from '../support/fault-stores.js'
import { FRAMEWORKS, type Handler, sayHello } from '../support/frameworks.js'
import { type LateAnswer, lateAnswer, sendAndHangUp } from '../support/hang-up.js'
import { closeServers } from '../support/http.js'
import { nextTurn } from '../support/next-turn.js'
import { HTTP1 } from '../support/protocols.js'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

type Options = RateLimitOptions<IncomingMessage, ServerResponse>

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1h' })
type Give = LateAnswer['give']

/** Ways to make a request wait before its address is needed. */
const WAITING: readonly (readonly [string, (give: Give) => Options])[] = [
  ['skip', (give) => ({ policy, skip: () => give(false) })],
  ['policy', (give) => ({ policy: () => give(policy) })],
  ['policy of one of several limits', (give) => ({ limits: [{ name: 'ip', policy: () => give(policy) }] })],
  ['policy, with a secret,', (give) => ({ policy: () => give(policy), secret: 'sixteen letters!' })],
  [
    'policy, with a trusted proxy,',
    (give) => ({ policy: () => give(policy), key: byIp({ trustProxy: 'loopback' }) }),
  ],
  ['key beside the address', (give) => ({ policy, key: [() => give('a'), byIp()] })],
  ['look-up of a user that finds nobody', (give) => ({ policy, key: byUser(() => give(undefined)) })],
  ['key that can be no key', (give) => ({ policy, key: () => give({}) })],
]

const keysOf = (store: { charges: readonly Parts[] }) => store.charges.flat().map(({ key }) => key)

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  /** Serves a limiter whose first request waits until it is released. */
  async function waitingServer(make: (give: Give) => Options) {
    const { release, give } = lateAnswer()
    const store = promisingStore()
    const reached = jest.fn(sayHello)
    const endpoint = await HTTP1.serve(app(rateLimit({ store, ...make(give) }), reached as Handler))
    return { release, store, reached, endpoint }
  }

  test.each(WAITING)(
    'a client that is gone during an async %s is charged by its own address',
    async (what, make) => {
      const { release, store, endpoint } = await waitingServer(make)
      await sendAndHangUp(endpoint)
      expect(store.charges).toEqual([])
      release()
      await nextTurn()
      expect(store.charges).toHaveLength(1)
      expect((await endpoint.send()).status).toBe(200)
      const [gone, stayed] = keysOf(store)
      expect(gone).toBe(stayed)
      if (what === 'policy') expect(gone).toMatch(/:\{127\.0\.0\.1\}$/)
      expect(warnings()).not.toContain('HEADGATE_NO_ADDRESS')
    },
  )

  test('a client that is gone while its account is looked up is charged by its own address', async () => {
    const { release, give } = lateAnswer()
    const store = promisingStore()
    const account = async () => {
      await give(undefined)
      await null // which a look-up may take, too
      return 'ada'
    }
    const guard = loginGuard({ store, name: 'login', account })
    const endpoint = await HTTP1.serve(app(guard as unknown as Handler, sayHello as Handler))
    await sendAndHangUp(endpoint, { method: 'POST' })
    expect(store.charges).toEqual([])
    release()
    await nextTurn()
    expect(keysOf(store)[0]).toMatch(/:\{127\.0\.0\.1\}$/)
  })

  test('a blocked client that is gone during an async skip never reaches the handler', async () => {
    const { release, store, reached, endpoint } = await waitingServer((give) => ({
      policy,
      skip: () => give(false),
      block: ['127.0.0.1'],
    }))
    await sendAndHangUp(endpoint)
    release()
    await nextTurn()
    expect(reached).not.toHaveBeenCalled()
    expect(store.charges).toEqual([])
    expect((await endpoint.send()).status).toBe(403)
  })

  test('an allowed client that is gone during an async skip is not charged', async () => {
    const { release, store, reached, endpoint } = await waitingServer((give) => ({
      policy,
      skip: () => give(false),
      allow: ['127.0.0.1'],
    }))
    await sendAndHangUp(endpoint)
    release()
    await nextTurn()
    expect(reached).toHaveBeenCalledTimes(1)
    expect(store.charges).toEqual([])
  })
})

const believing = FRAMEWORKS.filter(({ name }) => !name.startsWith('Express'))
test.each(believing)(
  'a forwarded client that is gone early is charged by the forwarded address on $name',
  async ({ app }) => {
    const { release, give } = lateAnswer()
    const store = promisingStore()
    const limiter = rateLimit({ store, policy: () => give(policy), key: byIp({ trustProxy: 'loopback' }) })
    const endpoint = await HTTP1.serve(app(limiter, sayHello))
    await sendAndHangUp(endpoint, { headers: { 'x-forwarded-for': '203.0.113.7' } })
    release()
    await nextTurn()
    expect(keysOf(store)).toEqual([expect.stringMatching(/:\{203\.0\.113\.7\}$/)])
  },
)
