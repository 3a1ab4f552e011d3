import { createLimiter, fixedWindow } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { connections } from './clients.js'

const { open, closeAll } = connections()
const DAY_MS = 86_400_000
let server: MemcachedServer
let nowMs = 0

beforeAll(async () => {
  server = await startMemcached({ own: true })
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  jest.restoreAllMocks()
  closeAll()
  await server?.stop()
})

test('a charge whose window ends between two keys is refunded to the windows that its units came from', async () => {
  const midnightMs = Math.ceil(Date.now() / DAY_MS) * DAY_MS
  jest.spyOn(Date, 'now').mockImplementation(() => nowMs)
  const policy = fixedWindow({ limit: 3, window: '1d' })
  const limiter = createLimiter({
    store: memcachedStore(passingMidnight(midnightMs)),
    timeout: 5000,
    limits: [
      { name: 'address', policy, key: () => '192.0.2.1' },
      { name: 'account', policy, key: () => 'ada' },
    ],
  })
  nowMs = midnightMs - 1
  const decision = await limiter.charge({ ip: '192.0.2.7' })
  expect(nowMs).toBe(midnightMs)
  expect(decision.parts.map(({ remaining }) => remaining)).toEqual([2, 2])
  await limiter.refund(decision)
  const { parts } = await limiter.peek({ ip: '192.0.2.7' })
  expect(parts.map(({ remaining }) => remaining)).toEqual([3, 3])
})

/** A client that sends its first command right before midnight, and all that follow at midnight. */
function passingMidnight(midnightMs: number) {
  const client = open(server.url)
  const serverOf = client.server.bind(client)
  client.server = (key) => {
    if (key.includes('/address:')) nowMs = midnightMs
    return serverOf(key)
  }
  return client
}
