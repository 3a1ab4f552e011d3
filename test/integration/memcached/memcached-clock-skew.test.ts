import { ban, fixedWindow, type Policy, type Store, tokenBucket } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { chargeStore } from '../../support/store-calls.js'
import { connections } from './clients.js'

const { open, closeAll } = connections()
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

const SPAN_MS = 4_000
const STEP_MS = 40

const bucket = tokenBucket({ capacity: 10, refill: 10, every: '1s' })

/** Policies, and the most that they admit in some time by one clock. */
const POLICIES: readonly [name: string, policy: Policy, mostIn: (spanMs: number) => number][] = [
  ['tokenBucket', bucket, (spanMs) => 10 + spanMs / 100],
  ['ban', ban(bucket, { after: 500, within: '1h', for: '1h' }), (spanMs) => 10 + spanMs / 100],
  [
    'a window from the first request',
    fixedWindow({ limit: 10, window: '2s', startsAt: 'first-request' }),
    (spanMs) => 10 * Math.ceil(spanMs / 2_000),
  ],
]

test.each(POLICIES)(
  'clocks up to a second apart admit what one clock would: %s',
  async (name, policy, mostIn) => {
    const startMs = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => nowMs)
    const stores = [memcachedStore(open(server.url)), memcachedStore(open(server.url))]
    for (const skewMs of [15, 900]) {
      const key = `hg:skew:${name.replaceAll(' ', '-')}:${skewMs}`
      let admitted = 0
      for (let passedMs = 0; passedMs < SPAN_MS; passedMs += STEP_MS)
        for (const [i, store] of stores.entries()) {
          nowMs = startMs + passedMs + i * skewMs
          if (await isAdmitted(store, key, policy)) admitted++
        }
      expect(admitted).toBeGreaterThanOrEqual(0.9 * mostIn(SPAN_MS))
      expect(admitted).toBeLessThanOrEqual(mostIn(SPAN_MS + skewMs))
    }
  },
)

async function isAdmitted(store: Store, key: string, policy: Policy): Promise<boolean> {
  const [verdict] = await chargeStore(store, [[{ key, policy, cost: 1 }]])
  return verdict?.allowed === true
}
