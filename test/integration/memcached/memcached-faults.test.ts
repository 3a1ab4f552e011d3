import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fixedWindow, type Policy, type Store, slidingWindow, tokenBucket } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import type { Client } from 'memjs'
import { countersOf } from '../../../src/stores/memcached/counters.js'
import { LONG, LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import {
  expectTaken,
  keyedPolicies,
  part,
  receiptOf,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, forgetStore, refundStore, takeOne } from '../../support/store-calls.js'
import { connections } from './clients.js'
import { causeOf, failureOf, failuresOf } from './failures.js'

const window = fixedWindow({ limit: 5, window: LONG })
const sliding = slidingWindow({ limit: 5, window: LONG })
const fifty = fixedWindow({ limit: 50, window: LONG })
const bucket = tokenBucket({ capacity: 5, refill: 5, every: LONG })

/** Of values, among them the five doubles of a bucket; with keys of some twenty bytes. */
const ITEM_LENGTHS = [5, 25, 40, 50, 80]

const { open, closeAll } = connections()

afterEach(() => {
  closeAll()
  jest.restoreAllMocks()
})

/** The item of a key, so many slices ago. */
function itemKey(policy: Policy, key: string, ago = 0): string {
  if (policy.spec.kind === 'token-bucket') return key
  const { keyOf, sliceAt } = countersOf(policy)
  return keyOf(key, sliceAt(Date.now()) - ago)
}

describe('an item of another application', () => {
  let server: MemcachedServer
  let client: Client
  let store: Store

  beforeAll(async () => {
    server = await startMemcached({ own: true })
  }, INSTALL_TIMEOUT_MS)

  afterAll(() => server?.stop())

  beforeEach(async () => {
    client = open(server.url)
    store = memcachedStore(client)
    await server.command('flush_all')
  })

  const large = 'x'.repeat(1_000_000)
  test.each<[string, Policy, string, string, number]>([
    ['a text under a counter', window, '0', 'hello', 0],
    ['more digits than a counter has', window, '0', '1'.repeat(30), 0],
    ['a negative number under a counter', window, '0', '-5', 0],
    ['a large value under a counter', window, '0', large, 0],
    ['a state under a counter', window, String(0x68670001), 'abcdefgh', 0],
    ['a text under a counter of a sliding window', sliding, '0', 'hello', 0],
    ['a text under an older slice', sliding, '0', 'hello', 1],
    ['no text at all under an older slice', sliding, '7', '', 3],
    ['a fraction under the oldest slice', sliding, '0', '1.5', 10],
    ['a number with flags of another under an older slice', sliding, '7', '2', 1],
    ['a text under a bucket', bucket, '0', 'hello', 0],
    ['a text as long as a state', bucket, '0', 'hellohel', 0],
    ['a number under a bucket', bucket, '0', '17', 0],
    ['nothing under a bucket', bucket, String(0x68670001), '', 0],
    ['a text with our flags', bucket, String(0x68670001), 'hello', 0],
    ['a large value under a bucket', bucket, '0', large, 0],
  ])('fails only charges of its own key, and stays unchanged: %s', async (_, policy, flags, value, ago) => {
    const key = itemKey(policy, 'theirs', ago)
    await server.command(`set ${key} ${flags} 0 ${value.length}\r\n${value}`)
    await takeOne(store, 'ours', window)
    const theirs = [part('theirs', policy)]
    const failures = await failuresOf([
      chargeStore(store, [theirs]),
      chargeStore(store, [[part('ours', window), part('new', bucket), ...theirs]]),
      chargeStore(store, [[part('ours', window)], theirs, [part('new', bucket)]]),
      chargeStore(store, [[part('theirs', policy, 0)]]),
    ])
    for (const failure of failures) {
      expect(failure.message).toContain(
        `the key ${key} holds a value that is not a state of its policy. Give the limiter another prefix.`,
      )
    }
    expect(await remainingOf(store, window, ['ours'])).toEqual([3])
    expect(await remainingOf(store, bucket, ['new'])).toEqual([4])
    expect((await client.get(key)).value?.toString()).toBe(value)
    await client.delete(key)
    expect(await remainingOf(store, policy, ['theirs'])).toEqual([5]) // what they had counted is refunded
  })

  test.each([
    [window, 2n ** 64n - 1n],
    [sliding, 2n ** 64n - 3n],
  ])('allows nothing if counting restarts at its number', async (policy, value) => {
    await server.command(`set ${itemKey(policy, 'theirs')} 0 0 20\r\n${value}`)
    expect((await failureOf(chargeStore(store, [[part('theirs', policy, 4)]]))).message).toContain(
      'a value that is not a state',
    )
  })

  test('fails a refund to its key, and stays unchanged', async () => {
    for (const policy of [window, bucket]) {
      await server.command(`set ${itemKey(policy, 'theirs')} 0 0 5\r\nhello`)
      const refund = refundStore(store, [{ ...part('theirs', policy), takenAtMs: Date.now() }])
      expect((await failureOf(refund)).message).toContain('a value that is not a state')
      expect((await client.get(itemKey(policy, 'theirs'))).value?.toString()).toBe('hello')
    }
  })
})

describe('a server that is out of memory', () => {
  let server: MemcachedServer

  beforeAll(async () => {
    server = await startMemcached({ args: ['-m', '2', '-M'] })
  }, INSTALL_TIMEOUT_MS)

  afterAll(() => server?.stop())

  /** Fills the classes of items that ours are of. What does not find room is refused. */
  async function fill(): Promise<void> {
    const sets = ITEM_LENGTHS.flatMap((length) =>
      Array.from(
        { length: 12_000 },
        (_, i) => `set fill-${length}-${i} 0 0 ${length} noreply\r\n${'x'.repeat(length)}`,
      ),
    )
    await server.command([...sets, 'version'].join('\r\n'))
  }

  test.each([1, 5])(
    'makes charges reject with its reason, and take all or nothing: retries %s',
    async (retries) => {
      await server.restart()
      const store = memcachedStore(open(server.url, { retries }))
      for (const policy of [window, sliding]) await takeOne(store, `held-${policy.spec.kind}`, policy)
      await fill()
      for (const [name, policyOf] of LONG_POLICIES) {
        const failures = await failuresOf([
          chargeStore(store, [[part(`new-${name}`, policyOf(5))]]),
          chargeStore(store, [[part('held-fixed-window', window), part(`new-${name}`, policyOf(5))]]),
          chargeStore(store, [
            [part('held-sliding-window', sliding, 2), part(`new-${name}`, policyOf(5), 5)],
          ]),
        ])
        for (const failure of failures) expect(causeOf(failure)).toMatch(/status 130: Out of memory/)
        expect(await remainingOf(store, policyOf(5), [`new-${name}`])).toEqual([5])
      }
      await expectTaken(store, window, ['held-fixed-window'], 1) // a counter that is there goes on
      await expectTaken(store, sliding, ['held-sliding-window'], 1)
      await forgetStore(store, keyedPolicies(window, 'held-fixed-window'))
      expect(await remainingOf(store, window, ['held-fixed-window'])).toEqual([5])
    },
  )

  test('still counts in an existing counter', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0) // every increment would add a read
    await server.restart()
    const store = memcachedStore(open(server.url))
    await takeOne(store, 'read-along', fifty, 10)
    await fill()
    await failureOf(chargeStore(store, [[part('new', fifty)]]))
    const verdicts = await Promise.all(Array.from({ length: 45 }, () => takeOne(store, 'read-along', fifty)))
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(40)
  })

  test('refunds denied charges while others read the counter', async () => {
    await server.restart()
    const [store, ...others] = Array.from({ length: 3 }, () => memcachedStore(open(server.url)))
    if (store === undefined) throw new Error('none')
    const { atMs } = (await chargeStore(store, [[part('full', fifty, 50)]]))[0] ?? { atMs: 0 }
    await fill()
    let isDone = false
    const peeking = others.map(async (other) => {
      while (!isDone) await Promise.all(Array.from({ length: 5 }, () => remainingOf(other, fifty, ['full'])))
    })
    for (let i = 0; i < 300; i++) {
      // While others read the counter, it cannot be counted in place.
      const verdict = await takeOne(store, 'full', fifty).catch((error) =>
        expect(causeOf(error)).toMatch(/130/),
      )
      expect(verdict?.allowed).not.toBe(true)
    }
    isDone = true
    await Promise.all(peeking)
    await refundStore(store, [{ ...part('full', fifty, 50), takenAtMs: atMs }])
    await until('all units are refunded', async () => (await remainingOf(store, fifty, ['full']))[0] === 50)
  })

  /**
   * Asks for a counter so often that the replies, some 35 MB, fill all buffers, and does not read them, so
   * that memcached holds on to it.
   */
  async function holdOn(counter: string): Promise<Socket> {
    const reader = connect({ host: server.host, port: server.port })
    await once(reader, 'connect')
    reader.write(`get${` ${counter}`.repeat(50)}\r\n`.repeat(20_000))
    let refused = 0
    await until('the counter cannot be counted in place any more', async () => {
      const reply = await server.command(`decr ${counter} 0`).catch(({ message }) => message)
      refused = reply.includes('out of memory') ? refused + 1 : 0
      return refused === 10
    })
    return reader
  }

  test('refunds once a slow reader disconnects', async () => {
    const key = 'held-by-a-slow-reader'
    await server.restart()
    const store = memcachedStore(open(server.url))
    const taken = await receiptOf(store, key, fifty, 40)
    await fill()
    const reader = await holdOn(itemKey(fifty, key))
    let isRefunded = false
    const refund = Promise.resolve(refundStore(store, [{ ...taken, cost: 10 }])).then(() => {
      isRefunded = true
    })
    await pause(30)
    expect(isRefunded).toBe(false)
    reader.destroy()
    await refund
    expect(await remainingOf(store, fifty, [key])).toEqual([20])
  })
})
