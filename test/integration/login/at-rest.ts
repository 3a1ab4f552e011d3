import { createHash } from 'node:crypto'
import express from 'express'
import { loginGuard, memoryStore, type Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { redisStore } from 'headgate/redis'
import { customStore, keysOf } from 'headgate/store'
import { closeServers, send, serve } from '../../support/http.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { startRedis } from '../../support/servers/redis.js'
import { startRedisCluster } from '../../support/servers/redis-cluster.js'
import { until } from '../../support/servers/wait.js'
import { connections } from '../memcached/clients.js'
import { expiriesOn } from '../memcached/items.js'
import { connect, dumpAll } from '../redis/connect.js'
import { connectCluster } from '../redis/connect-cluster.js'
import type { Kind } from '../sql/database-kind.js'
import { mariadb } from '../sql/mariadb-kind.js'
import { postgres } from '../sql/postgres-kind.js'

/** A store, and all that its server holds: keys and values, as text and as the text of their bytes. */
interface Place {
  readonly store: Store
  dump(): Promise<string>
  stop(): Promise<void>
}

async function onRedis(): Promise<Place> {
  const server = await startRedis()
  const client = await connect(server.url)
  return {
    store: redisStore(client),
    async dump() {
      const values = Object.values(await dumpAll(client)).map((hex = '') => Buffer.from(hex, 'hex'))
      return shown([...(await client.keys('*')).map((key) => Buffer.from(key)), ...values])
    },
    async stop() {
      client.disconnect()
      await server.stop()
    },
  }
}

async function onCluster(): Promise<Place> {
  const cluster = await startRedisCluster()
  const client = await connectCluster(cluster)
  return {
    store: redisStore(client),
    async dump() {
      const held = await Promise.all(
        client.nodes('master').map(async (node) => {
          const keys = await node.keys('*')
          const values = await Promise.all(keys.map((key) => node.dumpBuffer(key)))
          return [...keys.map((key) => Buffer.from(key)), ...values.filter((value) => value !== null)]
        }),
      )
      return shown(held.flat())
    },
    async stop() {
      client.disconnect()
      await cluster.stop()
    },
  }
}

async function onMemcached(): Promise<Place> {
  const server: MemcachedServer = await startMemcached({ own: true })
  const { open, closeAll } = connections()
  const client = open(server.url)
  return {
    store: memcachedStore(client),
    async dump() {
      const keys = [...(await expiriesOn(server)).keys()]
      const values = await Promise.all(keys.map(async (key) => (await client.get(key)).value))
      return shown([...keys.map((key) => Buffer.from(key)), ...values.filter((value) => value !== null)])
    },
    async stop() {
      closeAll()
      await server.stop()
    },
  }
}

const onSql = (kind: Kind) => async (): Promise<Place> => {
  const server = await kind.start()
  const pool = kind.open(server.url)
  const store = pool.makeStore({ table: 'limits' })
  await store.prepare()
  return {
    store,
    async dump() {
      const rows = await pool.run('SELECT * FROM limits')
      return shown(rows.flatMap((row) => Object.values(row).map(bytesOfColumn)))
    },
    async stop() {
      await pool.end()
      await server.stop()
    },
  }
}

function bytesOfColumn(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(String(value))
}

/** What a process holds cannot be listed, so this lists all keys that it was ever given. */
async function inMemory(): Promise<Place> {
  const memory = memoryStore()
  const keys = new Set<string>()
  const store: Store = customStore({
    ...memory,
    apply(operations) {
      for (const { key } of operations.flatMap(keysOf)) keys.add(key)
      return memory.apply(operations)
    },
  })
  return { store, dump: async () => shown([...keys].map((key) => Buffer.from(key))), stop: async () => {} }
}

/** As text, and in hex, so that an address is found in either. */
function shown(held: readonly Buffer[]): string {
  return held.map((bytes) => `${bytes.toString('latin1')}\n${bytes.toString('hex')}`).join('\n')
}

const PLACES = {
  memory: inMemory,
  Redis: onRedis,
  'Redis Cluster': onCluster,
  memcached: onMemcached,
  MariaDB: onSql(mariadb),
  PostgreSQL: onSql(postgres),
} as const

const SECRET = 'a secret of more than sixteen characters'
const EMAIL = 'Ada.Lovelace@Example.org'
const PASSWORD = 'correct-horse-battery-staple'
const GUESS = 'Tr0ub4dor&3'
/** Two of the addresses in other spellings, which are the same. */
const ADDRESSES = [
  '203.0.113.77',
  '::ffff:203.0.113.77',
  '2001:db8:1234:5678::9',
  '2001:0DB8:1234:5678:0:0:0:9',
  '198.51.100.201',
]

/** What must be nowhere, in the letters of any case. */
const NEEDLES: readonly (readonly [string, readonly string[]])[] = [
  ['the name', spellings(EMAIL, 'lovelace', 'example.org', 'grace.hopper')],
  ['an unkeyed hash of the name', hashes(EMAIL, EMAIL.toLowerCase(), `value:${EMAIL.toLowerCase()}`)],
  ['a password', spellings(PASSWORD, GUESS, 'staple')],
  ['an IPv4 address', spellings('203.0.113', '198.51.100', 'cb00:714d', 'cb00714d', 'c63364c9')],
  ['an IPv6 address', spellings('2001:db8', '2001:0db8', '20010db8123456', '1234:56')],
  [
    'an unkeyed hash of an address',
    hashes('203.0.113.77', 'value:203.0.113.77', 'value:2001:db8:1234:5600::/56', '198.51.100.201'),
  ],
]

function spellings(...texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    const bytes = Buffer.from(text)
    const encoded = encodeURIComponent(text)
    return [text, encoded, bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')]
  })
}

/** Such a hash is undone by whoever tries all addresses, or a list of names. */
function hashes(...texts: readonly string[]): string[] {
  return texts.flatMap((text) =>
    ['sha256', 'sha1', 'md5'].flatMap((algorithm) => {
      const digest = createHash(algorithm).update(text).digest()
      return [digest.toString('base64url').slice(0, 16), digest.toString('hex').slice(0, 16)]
    }),
  )
}

const found = (dump: string, needles: readonly string[]) =>
  needles.filter((needle) => dump.toLowerCase().includes(needle.toLowerCase()))

/**
 * Wrong guesses from all addresses, a success that makes a browser known, and a wrong guess by that browser.
 */
async function attack(store: Store, name: string, secret?: string): Promise<string[]> {
  const guard = loginGuard({
    field: 'username',
    store,
    name,
    timeout: 10_000,
    deviceCookie: { secret: 'another secret of more than sixteen' },
    ...(secret === undefined ? {} : { secret }),
  })
  const failures: unknown[] = []
  const record = (error: unknown) => failures.push(error)
  guard.limiter.events.on('storeError', record).on('refundFailed', record)
  const app = express().set('trust proxy', 'loopback')
  app.post('/login', express.urlencoded(), guard, (req, res) => {
    res.status(req.body.password === PASSWORD ? 200 : 401).end()
  })
  const served = await serve(app)
  const cookies: string[] = []
  async function attempt(username: string, password: string, ip: string): Promise<number> {
    const { status, headers } = await send(served, {
      method: 'POST',
      path: '/login',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-forwarded-for': ip,
        cookie: cookies.join('; '),
      },
      body: new URLSearchParams({ username, password }).toString(),
    })
    cookies.push(...(headers['set-cookie'] ?? []).map((cookie) => cookie.split(';', 1)[0] as string))
    return status
  }
  const [first = '', , third = ''] = ADDRESSES
  for (const ip of ADDRESSES) expect(await attempt(EMAIL, GUESS, ip)).toBe(401)
  expect(await attempt('grace.hopper@navy.example', PASSWORD, first)).toBe(200)
  expect(cookies).toHaveLength(1)
  for (const ip of [first, third]) {
    expect(await attempt('grace.hopper@navy.example', GUESS, ip)).toBe(401)
    expect(await attempt(EMAIL, GUESS, ip)).toBe(401)
  }
  expect(failures).toEqual([])
  return cookies
}

/** Defines the tests of what a guard leaves on some kinds of store. */
export function describeAtRest(...kinds: (keyof typeof PLACES)[]): void {
  describe.each(kinds)('the data of a guard on %s', (kind) => {
    let place: Place
    let withSecret: string
    let withoutSecret: string
    let cookies: string[]

    beforeAll(async () => {
      place = await PLACES[kind]()
      cookies = await attack(place.store, 'with-secret', SECRET)
      withSecret = await until('each limit has a key', async () => {
        const dump = await place.dump()
        return hasAllLimits(dump, 'with-secret') ? dump : ''
      })
      await attack(place.store, 'without-secret')
      withoutSecret = (await place.dump()).replaceAll(/^.*with-secret.*$/gm, '')
    }, INSTALL_TIMEOUT_MS)

    afterAll(async () => {
      await closeServers()
      await place?.stop()
    })

    test('has a key for each limit', () => {
      expect(hasAllLimits(withSecret, 'with-secret')).toBe(true)
      expect(hasAllLimits(withoutSecret, 'without-secret')).toBe(true)
    })

    test.each(NEEDLES)('holds no %s with a secret', (_what, needles) => {
      expect(found(withSecret, needles)).toEqual([])
    })

    test('holds no device cookie with a secret', () => {
      const [cookie = ''] = cookies
      const [device = '', , signature = ''] = cookie.slice(cookie.indexOf('=') + 1).split('.')
      expect(device).toMatch(/^[\w-]{16}$/)
      expect(signature).toMatch(/^[\w-]{43}$/)
      expect(found(withSecret, [device, signature, signature.slice(0, 22)])).toEqual([])
    })

    // Shows that the searches above would find what they look for.
    test('shows addresses, and names as plain hashes, without a secret', () => {
      const hash = createHash('sha256')
        .update(`value:${EMAIL.toLowerCase()}`)
        .digest('base64url')
        .slice(0, 22)
      const needles = ['203.0.113.77', '2001:db8:1234:5600::/56', hash]
      expect(found(withoutSecret, needles)).toEqual(needles)
      expect(found(withoutSecret, spellings(EMAIL, 'lovelace', 'example.org', PASSWORD, GUESS))).toEqual([])
    })
  })
}

function hasAllLimits(dump: string, name: string): boolean {
  return ['address', 'account', 'account-and-address', 'consecutive'].every((limit) =>
    dump.includes(`:${name}/${limit}:`),
  )
}
