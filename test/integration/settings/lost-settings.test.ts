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

async function onRedis(): Promise<Started> {
  const server = await startRedis({ own: true })
  const client = await connect(server.url)
  return {
    store: redisStore(client),
    lose: () => client.flushall(),
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
    await script.change('api', () => ({ limits: { api: { limit: 7 } } }), ada)
    await until('the limiter follows', async () => (await limiter.peek('acme')).limit === 7)
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
    await settings.change('api', () => blocked, ada)
    expect(await settings.read('api')).toEqual(blocked)
    client.disconnect()
  })

  test('a key of another type rejects at once, and stays as it is', async () => {
    const client = await connect(server.url)
    await client.set('hg:settings:text', '{"broken')
    const change = sharedSettings(redisStore(client)).change('text', () => blocked, ada)
    await expect(change).rejects.toMatchObject({ name: 'StoreError', replied: true })
    expect(await client.get('hg:settings:text')).toBe('{"broken')
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
