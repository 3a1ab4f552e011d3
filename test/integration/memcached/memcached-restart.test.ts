import { setTimeout as pause } from 'node:timers/promises'
import { type Policy, StoreError } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, takeOne } from '../../support/store-calls.js'
import { connections } from './clients.js'
import { causeOf } from './failures.js'

const CALLERS = 20
const LIMIT = 1_000_000

const { open, closeAll } = connections()
let server: MemcachedServer

beforeAll(async () => {
  server = await startMemcached({ own: true })
}, INSTALL_TIMEOUT_MS)

afterEach(closeAll)

afterAll(() => server?.stop())

beforeEach(() => server.restart())

/** How often charges of one key came to an end in each way. */
interface Load {
  begun: number
  allowed: number
  denied: number
  readonly failures: unknown[]
}

/** Charges one key without a pause, until `end` is called. */
function loadOn(key: string, policy: Policy, retries: number) {
  const store = memcachedStore(open(server.url, { retries }))
  const load: Load = { begun: 0, allowed: 0, denied: 0, failures: [] }
  let isOver = false
  async function charge(): Promise<void> {
    load.begun++
    try {
      const [verdict] = await chargeStore(store, [[part(key, policy)]])
      load[verdict?.allowed ? 'allowed' : 'denied']++
    } catch (error) {
      load.failures.push(error)
      await pause(10)
    }
  }
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) await charge()
  })
  const end = async () => {
    isOver = true
    await Promise.all(callers)
    return load
  }
  return { load, store, end }
}

describe.each([1, 5])('a restart under load, with a client of retries: %s', (retries) => {
  test.each(LONG_POLICIES)(
    'rejects the charges in flight, and counts none twice: %s',
    async (_, policyOf) => {
      const policy = policyOf(LIMIT)
      const { load, store, end } = loadOn('key', policy, retries)
      await until('the load has begun', () => load.allowed > 100)
      await server.kill()
      const begunBefore = load.begun
      await pause(50)
      await server.restart()
      const begunLater = load.begun
      const allowedBefore = load.allowed
      await until('the load goes on after the restart', () => load.allowed > allowedBefore + 10 * CALLERS)
      const { begun, allowed, denied, failures } = await end()
      expect({ denied, sum: allowed + failures.length }).toEqual({ denied: 0, sum: begun })
      expect(failures.length).toBeGreaterThan(0)
      for (const failure of failures) {
        expect(failure).toBeInstanceOf(StoreError)
        expect(causeOf(failure as StoreError)).toMatch(
          /no reply|timed out|connection was closed|ECONNREFUSED|ECONNRESET|EPIPE|write after end/,
        )
      }
      const taken = LIMIT - ((await remainingOf(store, policy, ['key']))[0] ?? 0)
      expect(taken).toBeGreaterThanOrEqual(begun - begunLater - failures.length)
      expect(taken).toBeGreaterThanOrEqual(allowed - allowedBefore)
      // Of those begun before the server was gone, the last ones may have waited for the connection.
      expect(taken).toBeLessThanOrEqual(begun - begunBefore + CALLERS)
      expect(await takeOne(store, 'other', policy)).toMatchObject({ remaining: LIMIT - 1 })
    },
  )
})
