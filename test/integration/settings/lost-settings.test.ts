import { setTimeout as pause } from 'node:timers/promises'
import { createLimiter, leased, type SharedSettings, type Store, sharedSettings } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { redisStore } from 'headgate/redis'
import type { Documents } from 'headgate/store'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startMemcached } from '../../support/servers/memcached.js'
import { startRedis } from '../../support/servers/redis.js'
import { startRedisCluster } from '../../support/servers/redis-cluster.js'
import { type Case, testTogether } from '../../support/servers/together.js'
import { startAll, stopAll, until } from '../../support/servers/wait.js'
import { connections } from '../memcached/clients.js'
import { connect } from '../redis/connect.js'
import { connectCluster, flushAll } from '../redis/connect-cluster.js'
import type { Kind } from '../sql/database-kind.js'
import { mariadb } from '../sql/mariadb-kind.js'
import { postgres } from '../sql/postgres-kind.js'

const ada = { by: 'ada', reason: 'a test' }
const KEY = 'hg:settings:api'
const blocked = { limits: {}, overrides: [{ identity: 'mallory', block: true as const }] }

interface Started {
  readonly store: Store
  /** Deletes all that the server holds, as FLUSHALL does. */
  lose(): Promise<unknown>
  /** Puts a text under a key, as a command line does. Absent in a database. */
  set?(key: string, text: string): Promise<unknown>
  stop(): Promise<void>
}

async function onRedis(): Promise<Started> {
  const server = await startRedis({ own: true })
  const client = await connect(server.url)
  return {
    store: redisStore(client),
    lose: () => client.flushall(),
    set: (key, text) => client.set(key, text),
    async stop() {
      client.disconnect()
      await server.stop()
    },
  }
}

async function onMemcached(): Promise<Started> {
  const server = await startMemcached({ own: true })
  const { open, closeAll } = connections()
  const client = open(server.url)
  return {
    store: memcachedStore(client),
    lose: () => new Promise((resolve) => client.flush(resolve)),
    set: (key, text) => client.set(key, text, {}),
    async stop() {
      closeAll()
      await server.stop()
    },
  }
}

async function onCluster(): Promise<Started> {
  const cluster = await startRedisCluster()
  const client = await connectCluster(cluster)
  return {
    store: leased(redisStore(client), { processes: 2 }),
    lose: () => flushAll(client),
    set: (key, text) => client.set(key, text),
    async stop() {
      client.disconnect()
      await cluster.stop()
    },
  }
}

const onSql = (kind: Kind) => async (): Promise<Started> => {
  const server = await kind.start()
  const pool = kind.open(server.url)
  const store = pool.makeStore({ table: 'limits' })
  await store.prepare()
  return {
    store,
    lose: () => pool.run('DELETE FROM limits_documents'),
    async stop() {
      await pool.end()
      await server.stop()
    },
  }
}

const STARTS: readonly (readonly [string, () => Promise<Started>])[] = [
  ['Redis', onRedis],
  ['leases on a Redis Cluster', onCluster],
  ['memcached', onMemcached],
  ['MariaDB', onSql(mariadb)],
  ['PostgreSQL', onSql(postgres)],
]

/** Settings of another process, which knows no document. */
const elsewhere = (store: Store): SharedSettings =>
  sharedSettings({ ...store, documents: { ...(store.documents as Documents) } })

/** A limiter that follows the document of its name. */
function follow(name: string, store: Store, settings: SharedSettings) {
  const options = { limit: 2, window: '1h', timeout: '30s', store, settings } as const
  const limiter = createLimiter<string>({ name, key: (id) => id, ...options })
  const failures: string[] = []
  limiter.events.on('settingsFailed', ({ message }) => failures.push(message))
  const isBlocked = async (id: string) => (await limiter.charge(id)).source === 'blocked'
  return { settings, limiter, failures, isBlocked, close: () => limiter.close() }
}
type Following = ReturnType<typeof follow>

type Scenario = readonly [title: string, run: (started: Started, following: Following) => Promise<void>]

const SCENARIOS: readonly Scenario[] = [
  [
    'a block outlasts the loss of the document and the next change',
    async ({ store, lose }, { settings, isBlocked }) => {
      await lose()
      await settings.change('api', (document) => ({ ...document, limits: { api: { limit: 9 } } }), ada)
      expect(await isBlocked('mallory')).toBe(true)
      expect(await elsewhere(store).read('api')).toEqual({ ...blocked, limits: { api: { limit: 9 } } })
      expect(await elsewhere(store).changes('api')).toHaveLength(2)
    },
  ],
  [
    'one call restores the document that limiters follow',
    async ({ store, lose }, { settings, failures }) => {
      await lose()
      await until('the limiter misses it', () => failures.length > 0)
      expect(failures[0]).toContain('the settings document is missing, so the last one still applies')
      await settings.change('api', (document) => document, ada)
      expect(await elsewhere(store).read('api')).toEqual(blocked)
    },
  ],
  [
    'a script that begins a new document removes nothing, and one call restores the last one',
    async ({ store, lose }, { settings, limiter, failures, isBlocked }) => {
      await lose()
      const script = elsewhere(store)
      await script.change('api', (document) => ({ ...document, limits: { api: { limit: 9 } } }), ada)
      await until('the limiter finds it', () => failures.some((each) => each.includes('began a new one')))
      expect(await isBlocked('mallory')).toBe(true)
      expect((await limiter.peek('acme')).limit).toBe(2)
      await settings.change('api', (document) => document, ada)
      expect(await elsewhere(store).read('api')).toEqual(blocked)
      await script.change('api', () => ({ limits: { api: { limit: 7 } } }), ada)
      await until('the limiter follows', async () => (await limiter.peek('acme')).limit === 7)
    },
  ],
  [
    'a damaged document is replaced by one call',
    async ({ store }, { limiter }) => {
      const documents = store.documents as Documents
      const [found] = await documents.read([{ key: KEY }])
      expect(await documents.replace(KEY, '{"broken', found?.version)).toBe(true)
      const script = elsewhere(store)
      await expect(script.read('api')).rejects.toThrow('the document must be valid JSON')
      await script.change('api', { limits: { api: { limit: 7 } } }, ada)
      await until('the limiter follows', async () => (await limiter.peek('acme')).limit === 7)
    },
  ],
]

const OVERWRITTEN: Scenario = [
  'a key that another program overwrites damages its own document alone, and a change repairs it',
  async ({ store, set = () => undefined }, api) => {
    const script = elsewhere(store)
    await script.change('other', () => blocked, ada)
    const other = follow('other', store, elsewhere(store))
    for (const { isBlocked } of [api, other]) await until('it follows', () => isBlocked('mallory'))

    await set(KEY, '{"broken')
    await until('the damage is reported', () => api.failures.length > 0)
    expect(api.failures[0]).toMatch(
      /^settings: the stored value must be a document, got a value of another .*\. Write it with settings\.change\./,
    )
    const eve = { overrides: [{ identity: 'eve', block: true as const }] }
    await script.change('other', () => eve, ada)
    await until('the other limiter follows', () => other.isBlocked('eve'))
    const starting = follow('other', store, elsewhere(store))
    await until('a starting process follows', () => starting.isBlocked('eve'))
    expect([other.failures, starting.failures]).toEqual([[], []])
    expect(await api.isBlocked('mallory')).toBe(true)

    await expect(script.read('api')).rejects.toThrow('Replace it with settings.change')
    await expect(script.change('api', (document) => ({ ...document }), ada)).rejects.toThrow(
      'pass a whole document in place of edit',
    )
    await api.settings.change('api', (document) => document, ada)
    expect(await script.read('api')).toEqual(blocked)
    await set(KEY, '{"broken')
    await script.change('api', eve, ada)
    await until('its limiter follows', () => api.isBlocked('eve'))
    await Promise.all([other, starting].map(({ close }) => close()))
  },
]

const started = new Map<string, Started>()

beforeAll(async () => {
  const all = await startAll(STARTS.map(([, start]) => start()))
  for (const [i, each] of all.entries()) started.set(STARTS[i]?.[0] ?? '', each)
}, INSTALL_TIMEOUT_MS)
afterAll(() => stopAll([...started.values()]))

/** The scenarios on one store, one after the other, since each loses all documents. */
function casesOn(name: string, scenarios: readonly Scenario[]): Case[] {
  let earlier: Promise<unknown> = Promise.resolve()
  async function run(play: Scenario[1]): Promise<void> {
    const on = started.get(name) as Started
    await on.lose()
    const following = follow('api', on.store, elsewhere(on.store))
    await following.settings.change('api', () => blocked, ada)
    await play(on, following).finally(() => following.close())
  }
  return scenarios.map(([title, play]) => [
    `on ${name}, ${title}`,
    () => {
      const ended = earlier.then(() => run(play))
      earlier = ended.catch(() => undefined)
      return ended
    },
  ])
}

const ON_REDIS: readonly Case[] = [
  [
    'on Redis, a document without its text is damaged, and replaced by one call',
    async () => {
      const server = await startRedis({ own: true })
      const client = await connect(server.url)
      const settings = sharedSettings(redisStore(client))
      await client.hset(KEY, 'version', 'of nothing')
      await settings.change('api', blocked, ada)
      expect(await settings.read('api')).toEqual(blocked)
      client.disconnect()
      await server.stop()
    },
  ],
  [
    'on Redis, three changes while it is frozen reject together, after ten seconds',
    async () => {
      const server = await startRedis({ own: true })
      const client = await connect(server.url)
      const settings = sharedSettings(redisStore(client))
      await server.kill('SIGSTOP')
      const keep = () => settings.change('api', (document) => document, ada)
      const changes = Promise.allSettled([keep(), keep(), keep()])
      const outcomes = await Promise.race([changes, pause(25_000, [], { ref: false })])
      await server.kill('SIGCONT')
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
      client.disconnect()
      await server.stop()
    },
  ],
]

const cases = STARTS.flatMap(([name]) => {
  const isDatabase = name === 'MariaDB' || name === 'PostgreSQL'
  return casesOn(name, isDatabase ? SCENARIOS : [...SCENARIOS, OVERWRITTEN])
})
testTogether([...cases, ...ON_REDIS], { atOnce: cases.length + ON_REDIS.length })
