import { createLimiter, type Limiter, type Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { postgresStore } from 'headgate/postgres'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { Client } from 'memjs'
import { Pool } from 'pg'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startMemcached } from '../../support/servers/memcached.js'
import { startPostgres } from '../../support/servers/postgres.js'
import { startRedis } from '../../support/servers/redis.js'
import type { Server } from '../../support/servers/server.js'
import { type Case, testTogether } from '../../support/servers/together.js'
import { until } from '../../support/servers/wait.js'

/** The longest that the breaker stays open. */
const PAUSE_MS = 1000
const CHOICES = ['allow', 'deny', 'local'] as const
const BURSTS = [40, 200]

/** A server of its own, and a store on it whose client connects again at once. */
interface Backend {
  readonly server: Server
  readonly store: Store
  /** Whether the client is connected, or connects with the next request. */
  isReady(): boolean
  end(): Promise<unknown>
}

const BACKENDS: readonly (readonly [string, () => Promise<Backend>])[] = [
  [
    'Redis',
    async () => {
      const server = await startRedis({ own: true })
      const client = new Redis(server.url, { autoResendUnfulfilledCommands: false, retryStrategy: () => 20 })
      client.on('error', ignore)
      return {
        server,
        store: redisStore(client),
        isReady: () => client.status === 'ready',
        end: async () => client.disconnect(),
      }
    },
  ],
  [
    'memcached',
    async () => {
      const server = await startMemcached({ own: true })
      const client = Client.create(server.url, { logger: { log: ignore }, retries: 1 })
      return { server, store: memcachedStore(client), isReady: () => true, end: async () => client.close() }
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const server = await startPostgres({ own: true })
      const pool = new Pool({ connectionString: server.url })
      pool.on('error', ignore)
      const store = postgresStore(pool)
      await store.prepare()
      const end = async () => {
        await store.close()
        await pool.end()
      }
      return { server, store, isReady: () => true, end }
    },
  ],
]

interface Fault {
  /** Enough for 200 requests on a busy machine. A server that is frozen costs the test as much. */
  readonly timeoutMs: number
  begin(server: Server): Promise<void>
  end(server: Server): Promise<void>
}

const FAULTS: readonly (readonly [string, Fault])[] = [
  [
    'frozen',
    {
      timeoutMs: 1500,
      begin: (server) => server.kill('SIGSTOP'),
      end: (server) => server.kill('SIGCONT'),
    },
  ],
  [
    'killed',
    {
      timeoutMs: 3000,
      begin: (server) => server.kill('SIGKILL'),
      end: (server) => server.restart(),
    },
  ],
]

/** A limiter, and what it emits. */
interface Watched {
  readonly limiter: Limiter<string>
  readonly title: string
  readonly burst: number
  readonly states: string[]
  readonly storeErrors: string[]
}

function watch(
  store: Store,
  onStoreError: (typeof CHOICES)[number],
  burst: number,
  timeoutMs: number,
): Watched {
  const title = `${onStoreError}, ${burst} at once`
  const limiter = createLimiter<string>({
    name: `${onStoreError}-${burst}`,
    limit: 1000,
    window: '1h',
    key: (client) => client,
    store,
    onStoreError,
    timeout: `${timeoutMs}ms`,
  })
  const states: string[] = []
  const storeErrors: string[] = []
  limiter.events.on('storeState', (state) => states.push(state))
  limiter.events.on('storeError', (error) => storeErrors.push(error.message))
  return { limiter, title, burst, states, storeErrors }
}

/** The sources of the decisions on this many charges made at once. */
async function sourcesOf({ limiter }: Watched, count: number): Promise<Record<string, number>> {
  const charges = Array.from({ length: count }, async (_, i) => limiter.charge(`client-${i}`))
  const sources: Record<string, number> = {}
  for (const { source } of await Promise.all(charges)) sources[source] = (sources[source] ?? 0) + 1
  return sources
}

async function openBreaker(watched: Watched): Promise<void> {
  for (let i = 0; i < 5 && watched.states.at(-1) !== 'open'; i++) await sourcesOf(watched, 20)
  expect(watched.states).toEqual(['open'])
}

async function expectBurstDecided({ server, store, isReady }: Backend, fault: Fault): Promise<void> {
  const all = CHOICES.flatMap((choice) => BURSTS.map((burst) => watch(store, choice, burst, fault.timeoutMs)))
  for (const { limiter } of all) {
    await until('the store is connected', async () => (await limiter.health()).isHealthy)
  }
  await fault.begin(server)
  await Promise.all(all.map(openBreaker))
  const openedMs = performance.now()
  await fault.end(server)
  await until('the pause is over, and the client ready', () => {
    return isReady() && performance.now() > openedMs + PAUSE_MS
  })
  for (const each of all) {
    const { title, burst, states, storeErrors } = each
    storeErrors.length = 0
    const sources = await sourcesOf(each, burst)
    expect({ title, sources, states, storeErrors }).toEqual({
      title,
      sources: { store: burst },
      states: ['open', 'half-open', 'closed'],
      storeErrors: [],
    })
  }
}

/** Defines a test for each fault of the backends with these names. */
export function describeFirstBursts(names: readonly string[]): void {
  const backends = BACKENDS.filter(([name]) => names.includes(name))
  const cases = backends.flatMap(([name, start]) =>
    FAULTS.map(([how, fault]) => caseOf(name, start, how, fault)),
  )
  testTogether(cases, { atOnce: cases.length, timeoutMs: INSTALL_TIMEOUT_MS })
}

function caseOf(name: string, start: () => Promise<Backend>, how: string, fault: Fault): Case {
  return [
    `${name} decides all of the first burst after it was ${how}, once the pause of the breaker is over`,
    async () => {
      const backend = await start()
      try {
        await expectBurstDecided(backend, fault)
      } finally {
        await backend.server.kill('SIGCONT')
        await backend.end()
        await backend.server.stop()
      }
    },
  ]
}

function ignore(): void {}
