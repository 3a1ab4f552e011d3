import { createLimiter, leased, type SharedSettings, type Store, sharedSettings } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { redisStore } from 'headgate/redis'
import type { Documents } from 'headgate/store'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startMemcached } from '../../support/servers/memcached.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { startRedisCluster } from '../../support/servers/redis-cluster.js'
import { until } from '../../support/servers/wait.js'
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
  stop(): Promise<void>
}

interface StartedByHand extends Started {
  /** Puts a text under a key, as a command line does. */
  set(key: string, text: string): Promise<unknown>
}

async function onRedis(): Promise<StartedByHand> {
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

async function onMemcached(): Promise<StartedByHand> {
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

async function onCluster(): Promise<StartedByHand> {
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

describe.each(STARTS)('on %s', (_, start) => {
  let started: Started
  let settings: SharedSettings
  let limiter: ReturnType<typeof createLimiter<string>>

  beforeAll(async () => {
    started = await start()
  }, INSTALL_TIMEOUT_MS)
  afterAll(() => started?.stop())

  beforeEach(async () => {
    await started.lose()
    const { store } = started
    settings = elsewhere(store)
    const options = { limit: 2, window: '1h', timeout: '5s', store, settings } as const
    limiter = createLimiter<string>({ name: 'api', key: (id) => id, ...options })
    await settings.change('api', () => blocked, ada)
  })
  afterEach(() => limiter.close())

  const sourceOf = async (id: string) => (await limiter.charge(id)).source

  test('a block outlasts the loss of the document and the next change', async () => {
    await started.lose()
    await settings.change('api', (document) => ({ ...document, limits: { api: { limit: 9 } } }), ada)
    expect(await sourceOf('mallory')).toBe('blocked')
    expect(await elsewhere(started.store).read('api')).toEqual({ ...blocked, limits: { api: { limit: 9 } } })
    expect(await elsewhere(started.store).changes('api')).toHaveLength(2)
  })

  test('one call restores the document that limiters follow', async () => {
    const failures: string[] = []
    limiter.events.on('settingsFailed', ({ message }) => failures.push(message))
    await started.lose()
    await until('the limiter misses it', () => failures.length > 0)
    expect(failures[0]).toContain('the settings document is missing, so the last one still applies')
    await settings.change('api', (document) => document, ada)
    expect(await elsewhere(started.store).read('api')).toEqual(blocked)
  })

  test('a script that begins a new document removes nothing, and one call restores the last one', async () => {
    const failures: string[] = []
    limiter.events.on('settingsFailed', ({ message }) => failures.push(message))
    await started.lose()
    const script = elsewhere(started.store)
    await script.change('api', (document) => ({ ...document, limits: { api: { limit: 9 } } }), ada)
    await until('the limiter finds it', () => failures.some((each) => each.includes('began a new one')))
    expect(await sourceOf('mallory')).toBe('blocked')
    expect((await limiter.peek('acme')).limit).toBe(2)
    await settings.change('api', (document) => document, ada)
    expect(await elsewhere(started.store).read('api')).toEqual(blocked)
    await script.change('api', () => ({ limits: { api: { limit: 7 } } }), ada)
    await until('the limiter follows', async () => (await limiter.peek('acme')).limit === 7)
  })

  test('a damaged document is replaced by one call', async () => {
    const documents = started.store.documents as Documents
    const [found] = await documents.read([{ key: KEY }])
    expect(await documents.replace(KEY, '{"broken', found?.version)).toBe(true)
    const script = elsewhere(started.store)
    await expect(script.read('api')).rejects.toThrow('the document must be valid JSON')
    await script.change('api', { limits: { api: { limit: 7 } } }, ada)
    await until('the limiter follows', async () => (await limiter.peek('acme')).limit === 7)
  })
})

describe.each<[string, () => Promise<StartedByHand>]>([
  ['Redis', onRedis],
  ['leases on a Redis Cluster', onCluster],
  ['memcached', onMemcached],
])('a key that another program overwrites on %s', (_, start) => {
  let started: StartedByHand
  beforeAll(async () => {
    started = await start()
    await elsewhere(started.store).change('api', () => blocked, ada)
    await elsewhere(started.store).change('other', () => blocked, ada)
  }, INSTALL_TIMEOUT_MS)
  afterAll(() => started?.stop())

  test('damages its own document alone, and a change repairs it', async () => {
    const { store } = started
    const options = { limit: 2, window: '1h', key: (id: string) => id, timeout: '5s' } as const
    const follow = (name: string, settings: SharedSettings) => {
      const limiter = createLimiter<string>({ name, ...options, store, settings })
      const failures: string[] = []
      limiter.events.on('settingsFailed', ({ message }) => failures.push(message))
      const isBlocked = async (id: string) => (await limiter.charge(id)).source === 'blocked'
      return { failures, isBlocked, close: () => limiter.close() }
    }
    const [here, script] = [elsewhere(store), elsewhere(store)]
    const followers = [follow('api', here), follow('other', here)] as const
    for (const { isBlocked } of followers) await until('it follows', () => isBlocked('mallory'))

    await started.set(KEY, '{"broken')
    await until('the damage is reported', () => followers[0].failures.length > 0)
    expect(followers[0].failures[0]).toMatch(
      /^settings: the stored value must be a document, got a value of another .*\. Write it with settings\.change\./,
    )
    const eve = { overrides: [{ identity: 'eve', block: true as const }] }
    await script.change('other', () => eve, ada)
    await until('the other limiter follows', () => followers[1].isBlocked('eve'))
    const starting = follow('other', elsewhere(store))
    await until('a starting process follows', () => starting.isBlocked('eve'))
    expect([followers[1].failures, starting.failures]).toEqual([[], []])
    expect(await followers[0].isBlocked('mallory')).toBe(true)

    await expect(script.read('api')).rejects.toThrow('Replace it with settings.change')
    await expect(script.change('api', (document) => ({ ...document }), ada)).rejects.toThrow(
      'pass a whole document in place of edit',
    )
    await here.change('api', (document) => document, ada)
    expect(await script.read('api')).toEqual(blocked)
    await started.set(KEY, '{"broken')
    await script.change('api', eve, ada)
    await until('its limiter follows', () => followers[0].isBlocked('eve'))
    await Promise.all([...followers, starting].map(({ close }) => close()))
  })
})

describe('on Redis', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis({ own: true })
  }, INSTALL_TIMEOUT_MS)
  afterAll(() => server?.stop())

  test('a document without its text is damaged, and replaced by one call', async () => {
    const client = await connect(server.url)
    const settings = sharedSettings(redisStore(client))
    await client.hset(KEY, 'version', 'of nothing')
    await settings.change('api', blocked, ada)
    expect(await settings.read('api')).toEqual(blocked)
    client.disconnect()
  })

  test('three changes while it is frozen reject together, after ten seconds', async () => {
    const client = await connect(server.url)
    const settings = sharedSettings(redisStore(client))
    await server.kill('SIGSTOP')
    const changes = Array.from({ length: 3 }, () =>
      settings
        .change('api', (document) => document, ada)
        .then(
          () => 'changed',
          () => 'rejected',
        ),
    )
    let timer: NodeJS.Timeout | undefined
    const later = new Promise((resolve) => {
      timer = setTimeout(resolve, 15_000, 'later')
    })
    const outcome = await Promise.race([Promise.all(changes), later])
    clearTimeout(timer)
    await server.kill('SIGCONT')
    expect(outcome).toEqual(['rejected', 'rejected', 'rejected'])
    client.disconnect()
  }, 30_000)
})
