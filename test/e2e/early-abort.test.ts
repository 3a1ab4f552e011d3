import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import net from 'node:net'
import { byIp, byUser, loginGuard, type RateLimitOptions, rateLimit, type Store, tokenBucket } from 'headgate'
import { nextTurn } from '../support/exchange.js'
import { promisingStore } from '../support/fault-stores.js'
import { FRAMEWORKS, type Handler, sayHello } from '../support/frameworks.js'
import { closeServers, type Served, send, serve } from '../support/http.js'
import { listenForWarnings } from '../unit/keys/warnings.js'

let warnings: () => unknown[]
beforeEach(() => {
  warnings = listenForWarnings()
})
afterEach(async () => {
  jest.restoreAllMocks()
  await closeServers()
})

type Options = RateLimitOptions<IncomingMessage, ServerResponse>

/** A promise that the first caller waits for until it is released; later callers get the value at once. */
function held() {
  let release: () => void = () => undefined
  const first = new Promise<void>((resolve) => {
    release = resolve
  })
  let calls = 0
  return {
    release,
    async give<T>(value: T): Promise<T> {
      if (calls++ === 0) await first
      return value
    },
  }
}

/** Sends a request and resets its connection once the server has it, and tells when the server knows. */
async function sendAndReset({ port, server }: Served, head = '', method = 'GET'): Promise<void> {
  const socket = net.connect(port, '127.0.0.1')
  const arrived = once(server, 'request')
  socket.write(`${method} / HTTP/1.1\r\nHost: a\r\n${head}\r\n`)
  const [req, res] = (await arrived) as [IncomingMessage, ServerResponse]
  const closed = once(res, 'close')
  socket.resetAndDestroy()
  await closed
  expect(req.socket.destroyed).toBe(true)
}

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1h' })
type Give = ReturnType<typeof held>['give']

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
  ['key that is nobody’s', (give) => ({ policy, key: () => give({}) })],
]

const keysOf = (store: { charges: Parameters<Store['charge']>[0] }) =>
  store.charges.flat().map(({ key }) => key)

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  /** The server of a limiter whose first request waits until it is released. */
  async function waitingServer(make: (give: Give) => Options) {
    const { release, give } = held()
    const store = promisingStore()
    const reached = jest.fn(sayHello)
    const served = await serve(app(rateLimit({ store, ...make(give) }), reached as Handler))
    return { release, store, reached, served }
  }

  test.each(WAITING)(
    'a client that is gone during an async %s is charged by its own address',
    async (_w, make) => {
      const { release, store, served } = await waitingServer(make)
      await sendAndReset(served)
      expect(store.charges).toEqual([])
      release()
      await nextTurn()
      expect(store.charges).toHaveLength(1)
      expect((await send(served)).status).toBe(200)
      const [gone, stayed] = keysOf(store)
      expect(gone).toBe(stayed)
      expect(warnings()).not.toContain('HEADGATE_NO_ADDRESS')
    },
  )

  test('a client that is gone while its account is looked up is charged by its own address', async () => {
    const { release, give } = held()
    const store = promisingStore()
    const account = async () => {
      await give(undefined)
      await null // which a look-up may take, too
      return 'ada'
    }
    const guard = loginGuard({ store, name: 'login', account })
    const served = await serve(app(guard as unknown as Handler, sayHello as Handler))
    await sendAndReset(served, '', 'POST')
    expect(store.charges).toEqual([])
    release()
    await nextTurn()
    expect(keysOf(store)[0]).toMatch(/:\{127\.0\.0\.1\}$/)
  })

  test('its key names the address', async () => {
    const { release, store, served } = await waitingServer((give) => ({ policy: () => give(policy) }))
    await sendAndReset(served)
    release()
    await nextTurn()
    expect(keysOf(store)).toEqual([expect.stringMatching(/:\{127\.0\.0\.1\}$/)])
  })

  test('a blocked client that is gone during an async skip never reaches the handler', async () => {
    const { release, store, reached, served } = await waitingServer((give) => ({
      policy,
      skip: () => give(false),
      block: ['127.0.0.1'],
    }))
    await sendAndReset(served)
    release()
    await nextTurn()
    expect(reached).not.toHaveBeenCalled()
    expect(store.charges).toEqual([])
    expect((await send(served)).status).toBe(403)
  })

  test('an allowed client that is gone during an async skip is not charged', async () => {
    const { release, store, reached, served } = await waitingServer((give) => ({
      policy,
      skip: () => give(false),
      allow: ['127.0.0.1'],
    }))
    await sendAndReset(served)
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
    const { release, give } = held()
    const store = promisingStore()
    const limiter = rateLimit({ store, policy: () => give(policy), key: byIp({ trustProxy: 'loopback' }) })
    const served = await serve(app(limiter, sayHello))
    await sendAndReset(served, 'X-Forwarded-For: 203.0.113.7\r\n')
    release()
    await nextTurn()
    expect(keysOf(store)).toEqual([expect.stringMatching(/:\{203\.0\.113\.7\}$/)])
  },
)
