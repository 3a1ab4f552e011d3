import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import { fixedWindow, type Store as HeadgateStore, memoryStore } from 'headgate'
import {
  type GivenOptions,
  type LegacyStore,
  MemoryStore,
  type Options,
  rateLimit,
  type Store,
} from 'headgate/express-rate-limit'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import MemcachedClient from 'memcached'
import { MemcachedStore } from 'rate-limit-memcached'
import { RedisStore } from 'rate-limit-redis'
import { receiptOf } from '../../../src/testing/conformance/store-calls.js'
import { failingStore } from '../../support/failing-store.js'
import { closeServers, type Sent, sendRaw, serve, statuses, times } from '../../support/http.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { refundStore } from '../../support/store-calls.js'
import { answerAll, both, bothWith, ORIGINAL, OURS } from './side-by-side.js'

let redisServer: RedisServer
let memcachedServer: MemcachedServer
let redis: Redis
const clients: MemcachedClient[] = []

beforeAll(async () => {
  ;[redisServer, memcachedServer] = await Promise.all([startRedis(), startMemcached()])
  redis = new Redis(redisServer.url, { autoResendUnfulfilledCommands: false })
  await loadScripts(redisStore(redis))
}, INSTALL_TIMEOUT_MS)

afterEach(closeServers)

afterAll(async () => {
  redis?.disconnect()
  for (const client of clients) client.end()
  await Promise.all([redisServer?.stop(), memcachedServer?.stop()])
})

/**
 * Loads the scripts of the store: the next charge can overtake a refund whose script Redis does not know
 * yet.
 */
async function loadScripts(store: HeadgateStore): Promise<void> {
  const policy = fixedWindow({ limit: 1, window: '1h', startsAt: 'first-request' })
  await refundStore(store, [await receiptOf(store, 'loaded', policy, 1)])
}

/** Counts in a map of its own, by the methods that version 6 and later call. */
function mapStore(windowMs = 60_000) {
  const counts = new Map<string, { totalHits: number; resetTime: Date }>()
  const calls: string[] = []
  return {
    calls,
    init: ({ windowMs }: Options) => void calls.push(`init ${windowMs}`),
    async increment(key: string) {
      const count = counts.get(key) ?? { totalHits: 0, resetTime: new Date(Date.now() + windowMs) }
      counts.set(key, { ...count, totalHits: count.totalHits + 1 })
      return counts.get(key) as typeof count
    },
    async decrement(key: string) {
      calls.push(`decrement ${key}`)
      const count = counts.get(key)
      if (count) counts.set(key, { ...count, totalHits: count.totalHits - 1 })
    },
    resetKey: async (key: string) => void counts.delete(key),
  } satisfies Store & { calls: string[] }
}

/** The same with the callback of earlier versions. */
function callbackStore(): LegacyStore {
  const store = mapStore()
  return {
    incr(key, callback) {
      store.increment(key).then(({ totalHits, resetTime }) => callback(undefined, totalHits, resetTime))
    },
    decrement: (key) => void store.decrement(key),
    resetKey: (key) => void store.resetKey(key),
  }
}

const from = (address: string): Sent => ({ headers: { 'x-forwarded-for': address } })
const REQUESTS = [...times(4, from('203.0.113.7')), from('203.0.113.8'), { path: '/404' }, { path: '/404' }]

let uses = 0

/** Stores by other packages, each used by both. */
const FOREIGN: readonly [name: string, make: () => Store | LegacyStore][] = [
  ['one with promises', mapStore],
  ['one with callbacks', callbackStore],
  ['rate-limit-redis', () => redisStoreOf(`rl${++uses}:`)],
  ['rate-limit-memcached', () => memcachedStoreOf(`ml${++uses}:`)],
  ['the MemoryStore of express-rate-limit', () => new ORIGINAL.MemoryStore()],
  ['the MemoryStore of headgate/express-rate-limit', () => new OURS.MemoryStore()],
]

function redisStoreOf(prefix: string): Store {
  const sendCommand = (...[command, ...args]: string[]) =>
    redis.call(command as string, ...args) as Promise<never>
  return new RedisStore({ prefix, sendCommand })
}

function memcachedStoreOf(prefix: string): Store {
  const client = new MemcachedClient(memcachedServer.url)
  clients.push(client)
  return new MemcachedStore({ prefix, client })
}

test.each(FOREIGN)('a store of express-rate-limit works in both packages: %s', async (_name, make) => {
  const { original, ours } = await both(
    () => ({ limit: 2, store: make(), standardHeaders: 'draft-7', skipFailedRequests: true }),
    REQUESTS,
  )
  expect(original.answers.map((answer) => 'status' in answer && answer.status)).toEqual([
    200, 200, 429, 429, 200, 404, 404,
  ])
  expect(original.log).toEqual([])
  expect(ours).toEqual(original)
})

test('counts in a headgate store are those of a store of express-rate-limit', async () => {
  const requests = [...times(2, { path: '/404' }), ...times(4), from('203.0.113.7')]
  const options = {
    limit: 2,
    standardHeaders: 'draft-8',
    identifier: 'both',
    skipFailedRequests: true,
  } as const
  const { original, ours } = await both(
    (exports) => ({ ...options, store: exports === OURS ? redisStore(redis) : redisStoreOf('both:') }),
    requests,
  )
  expect(original.answers.map((answer) => 'status' in answer && answer.status)).toEqual([
    404, 404, 200, 200, 429, 429, 200,
  ])
  expect(ours).toEqual(original)
})

/** A server with one limiter, which lets pass what it does not limit. */
async function serveLimited(options: GivenOptions) {
  const limiter = rateLimit(options)
  const app = express()
  answerAll(app.use(limiter))
  app.use((error: Error, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
    res.status(500).send(`${error.name}: ${error.message}`)
  })
  return { limiter, served: await serve(app) }
}

test('two processes that share a headgate store allow exactly the limit', async () => {
  const options = { limit: 40, identifier: 'shared' }
  const processes = await Promise.all(
    times(2).map(() => serveLimited({ ...options, store: redisStore(redis) })),
  )
  const seen = await Promise.all(
    processes.flatMap(({ served }) => times(50).map((sent) => statuses(served, [sent]))),
  )
  const count = (status: number) => seen.flat().filter((each) => each === status).length
  expect(count(200)).toBeLessThanOrEqual(40)
  expect(count(200) + count(500)).toBeGreaterThanOrEqual(40) // an answer after the deadline fails
  expect(count(200) + count(500) + count(429)).toBe(100)
})

test('a headgate store counts requests that arrive together in one round trip', async () => {
  const { served } = await serveLimited({ limit: 30, identifier: 'together', store: redisStore(redis) })
  await statuses(served, times(1)) // loads the script
  await redis.config('RESETSTAT')
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n'
  const text = await sendRaw(served, `${`${request}\r\n`.repeat(39)}${request}Connection: close\r\n\r\n`)
  expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(29)
  expect(text.match(/HTTP\/1\.1 429/g)).toHaveLength(11)
  const [, calls] = /cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats')) ?? []
  expect(Number(calls)).toBeLessThan(5)
})

const COUNTERS: readonly [name: string, makeOptions: () => GivenOptions][] = [
  ['the default store', () => ({})],
  ['a MemoryStore', () => ({ store: new MemoryStore() })],
  ['a headgate store in memory', () => ({ store: memoryStore() })],
  ['a headgate store in Redis', () => ({ store: redisStore(redis), identifier: `counter-${++uses}` })],
]

describe.each(COUNTERS)('with %s', (_name, makeOptions) => {
  test('getKey returns the count of a key, also above the limit, and resetKey forgets it', async () => {
    const { limiter, served } = await serveLimited({ limit: 1, ...makeOptions() })
    expect(await limiter.getKey('127.0.0.1')).toBeUndefined()
    expect(await statuses(served, times(3))).toEqual([200, 429, 429])
    const count = await limiter.getKey('127.0.0.1')
    expect(count).toEqual({ totalHits: 3, resetTime: expect.any(Date) })
    const leftMs = Number(count?.resetTime) - Date.now()
    expect(leftMs).toBeGreaterThan(50_000)
    expect(leftMs).toBeLessThanOrEqual(60_000)
    await limiter.resetKey('127.0.0.1')
    expect(await limiter.getKey('127.0.0.1')).toBeUndefined()
    expect(await statuses(served, times(1))).toEqual([200])
  })

  test('requests that count no more are taken back', async () => {
    const { limiter, served } = await serveLimited({ limit: 1, skipFailedRequests: true, ...makeOptions() })
    const all = [...times(3, { path: '/404' }), ...times(2)]
    expect(await statuses(served, all)).toEqual([404, 404, 404, 200, 429])
    expect(await limiter.getKey('127.0.0.1')).toMatchObject({ totalHits: 1 }) // the denied one failed, too
  })
})

test('decrement takes back one hit of its window, and never below none', async () => {
  const store = new MemoryStore()
  store.init({ windowMs: 60_000 })
  await store.increment('ada')
  await store.increment('ada')
  await store.decrement('ada')
  expect(await store.get('ada')).toMatchObject({ totalHits: 1 })
  await store.decrement('ada')
  await store.decrement('ada')
  expect(await store.get('ada')).toBeUndefined()
  expect(await store.increment('ada')).toMatchObject({ totalHits: 1 })
  await store.resetAll()
  expect(await store.get('ada')).toBeUndefined()
})

test("each client's window begins with its first request, in both packages", async () => {
  const windowMs = 600
  for (const exports of [ORIGINAL, OURS]) {
    const store = new exports.MemoryStore()
    store.init({ windowMs } as Options)
    const count = async (key: string) => (await store.increment(key)).totalHits
    expect([await count('ada'), await count('ada')]).toEqual([1, 2])
    await sleep(windowMs / 2)
    expect([await count('ada'), await count('grace')]).toEqual([3, 1])
    await sleep(windowMs / 2 + 50)
    expect([await count('ada'), await count('grace')]).toEqual([1, 2])
    store.shutdown()
  }
})

test('limiters on one headgate store need identifiers of their own', () => {
  const store = memoryStore()
  rateLimit({ store })
  expect(() => rateLimit({ store })).toThrow(
    'rateLimit: this store already serves a limiter without an identifier, and a second one would count ' +
      'in the same keys. Create each limiter once, not in a handler, and give it an identifier, such as ' +
      "identifier: 'login'.",
  )
  expect(() => rateLimit({ store, identifier: () => 'login' })).toThrow(/give it an identifier/)
  expect(() => rateLimit({ store, identifier: 'login' })).not.toThrow()
})

test('while a headgate store fails, its error goes to next, or the request passes', async () => {
  const store = failingStore()
  const log: unknown[] = []
  const logger = { error: (...line: unknown[]) => void log.push(line), warn() {} }
  const closed = await serveLimited({ store, logger })
  const open = await serveLimited({ store, identifier: 'open', logger, passOnStoreError: true })
  store.mode = 'failing'
  expect(await statuses(closed.served, times(2))).toEqual([500, 500])
  expect(await statuses(open.served, times(2))).toEqual([200, 200])
  const problem = 'rateLimit: the store failed, so this request passes uncounted.'
  expect(log).toEqual(times(2).map(() => [expect.objectContaining({ name: 'StoreError' }), problem]))
  await store.recover()
  expect(await statuses(closed.served, times(1))).toEqual([200])
})

test('a headgate store that never answers does not keep a request waiting', async () => {
  const store = failingStore()
  const { served } = await serveLimited({ store, passOnStoreError: true, logger: { error() {}, warn() {} } })
  store.mode = 'hanging'
  expect(await statuses(served, times(1))).toEqual([200])
  await store.recover()
})

const TIMES: readonly [name: string, make: () => unknown][] = [
  ['a number', () => Date.now() + 60_000],
  ['text', () => new Date(Date.now() + 60_000).toISOString()],
  ['null', () => null],
]
const UNREAD: readonly [options: GivenOptions, statuses: string][] = [
  [{}, '200 200 500'],
  [{ passOnStoreError: true }, '200 200 500'],
  [{ retryAfter: 17 }, '200 200 429'],
  [{ legacyHeaders: false }, '200 200 429'],
  [{ standardHeaders: 'draft-7' }, '500 500 500'],
  [{ standardHeaders: 'draft-8', passOnStoreError: true }, '500 500 500'],
]

describe.each(TIMES)('with a store whose resetTime is %s', (name, makeTime) => {
  const makeStore = () => {
    const store = mapStore()
    const increment = async (key: string) => ({
      ...(await store.increment(key)),
      resetTime: makeTime() as Date,
    })
    return { ...store, increment }
  }

  test.each(UNREAD)('both packages answer the same: %p', async (options, expected) => {
    const { original, ours } = await both(() => ({ limit: 2, ...options, store: makeStore() }), times(3))
    const statuses = original.answers.map((answer) => (answer as { status: number }).status).join(' ')
    expect(statuses).toBe(name === 'null' ? '200 200 429' : expected)
    expect(ours).toEqual(original)
  })

  test('skipFailedRequests is an error of the store in express-rate-limit, and works here', async () => {
    const options = { skipFailedRequests: true, logger: { error() {}, warn() {} } }
    const { original } = await both(() => ({ ...options, store: makeStore() }), times(1))
    expect(original.answers).toMatchObject([{ status: name === 'null' ? 200 : 500 }])
    const { served } = await serveLimited({ limit: 1, skipFailedRequests: true, store: makeStore() })
    expect(await statuses(served, [...times(2, { path: '/404' }), ...times(1)])).toEqual([404, 404, 200])
  })
})

test('windowMs as text works in both packages where the store reads it', async () => {
  const { original, ours } = await both(
    () => ({
      limit: 2,
      windowMs: '60000' as unknown as number,
      standardHeaders: 'draft-8',
      store: mapStore(),
    }),
    times(3),
  )
  expect(original.answers.map((answer) => 'status' in answer && answer.status)).toEqual([200, 200, 429])
  expect(original.log).toEqual([])
  expect(ours).toEqual(original)
})

test('one MemoryStore for two windows has one count, in both packages', async () => {
  const { original, ours } = await bothWith(
    (limit, app) => {
      const store = new OURS.MemoryStore()
      app.use('/a', limit({ store, windowMs: 60_000 }))
      answerAll(app.use('/b', limit({ store, windowMs: 59_000 })))
    },
    [{ path: '/a' }, { path: '/b' }, { path: '/a' }],
  )
  expect(original.answers.map((answer) => 'text' in answer && JSON.parse(String(answer.text)).used)).toEqual([
    1, 2, 3,
  ])
  expect(original.log).toEqual(['error ERR_ERL_STORE_REUSE'])
  expect(ours).toEqual(original)
})

const BROKEN: readonly [name: string, broken: Partial<Store>, passOnStoreError: boolean, status: number][] = [
  ['increment', { increment: () => Promise.reject(new Error('down')) }, false, 500],
  ['increment, passed over', { increment: () => Promise.reject(new Error('down')) }, true, 200],
  [
    'increment that throws',
    {
      increment: () => {
        throw new Error('down')
      },
    },
    true,
    200,
  ],
  ['decrement', { decrement: () => Promise.reject(new Error('down')) }, false, 404],
  [
    'init',
    {
      init: () => {
        throw new Error('no table')
      },
    },
    false,
    404,
  ],
  ['async init', { init: () => Promise.reject(new Error('no table')) }, false, 404],
]

test.each(BROKEN)(
  'both packages do the same when a store fails in its %s',
  async (_name, broken, passOnStoreError, status) => {
    const { original, ours } = await both(
      () => ({ skipFailedRequests: true, passOnStoreError, store: { ...mapStore(), ...broken } }),
      times(2, { path: status === 404 ? '/404' : '/' }),
    )
    expect(original.answers).toEqual(times(2).map(() => expect.objectContaining({ status })))
    expect(ours).toEqual(original)
  },
)

test('both packages refuse what is no store, and getKey of a store without get', () => {
  for (const { rateLimit } of [ORIGINAL, OURS]) {
    expect(() => rateLimit({ store: { increment() {} } as unknown as Store })).toThrow(TypeError)
    expect(() => rateLimit({ store: mapStore() }).getKey('ada')).toThrow(/get/)
  }
})

test('a store is initialized once, with the options', () => {
  const store = mapStore()
  rateLimit({ store, windowMs: 1234 })
  expect(store.calls).toEqual(['init 1234'])
})
