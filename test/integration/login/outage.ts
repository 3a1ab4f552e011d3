import express, { type Request } from 'express'
import { type LoginGuard, loginGuard, type Policy, type Store, slidingWindow } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { closeServers, send, serve } from '../../support/http.js'
import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startMemcached } from '../../support/servers/memcached.js'
import { startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { connections } from '../memcached/clients.js'
import { postgres } from '../sql/postgres-kind.js'

/** A store that can fail, and the same one on a connection that never does. */
interface FailingStore {
  readonly store: Store
  readonly elsewhere: Store
  takeDown(): Promise<void>
  bringBack(): Promise<void>
  stop(): Promise<void>
}

/** Drops what is sent either way on open connections, which are closed in the end. */
const swallowAll = (proxy: FaultyProxy) => ({
  takeDown: async () => proxy.behave({ swallow: 'both' }),
  async bringBack() {
    proxy.cut()
    await proxy.heal()
  },
})

/** Drops replies: the store counts, but its answers do not arrive. */
const swallowReplies = (proxy: FaultyProxy) => ({
  ...swallowAll(proxy),
  takeDown: async () => proxy.behave({ swallow: 'replies' }),
})

/** Connections are reset, and no new ones are taken. */
const refuseConnections = (proxy: FaultyProxy) => ({
  async takeDown() {
    await proxy.refuse()
    proxy.cut()
  },
  bringBack: () => proxy.heal(),
})

type Fault = (proxy: FaultyProxy) => Pick<FailingStore, 'takeDown' | 'bringBack'>

const onRedis = (fault: Fault) => async (): Promise<FailingStore> => {
  const server = await startRedis({ own: true })
  const proxy = await startProxy(server)
  const clients = [proxy, server].map(({ host, port }) => {
    const client = new Redis({ host, port, autoResendUnfulfilledCommands: false, retryStrategy: () => 50 })
    return client.on('error', () => undefined) // while the server is down, connecting fails
  })
  await Promise.all(clients.map((client) => client.ping()))
  const [near, far] = clients as [Redis, Redis]
  return {
    store: redisStore(near),
    elsewhere: redisStore(far),
    ...fault(proxy),
    async stop() {
      for (const client of clients) client.disconnect()
      await proxy.stop()
      await server.stop()
    },
  }
}

const onMemcached = (fault: Fault) => async (): Promise<FailingStore> => {
  const server = await startMemcached({ own: true })
  const proxy = await startProxy(server)
  const { open, closeAll } = connections()
  return {
    store: memcachedStore(open(proxy.url)),
    elsewhere: memcachedStore(open(server.url)),
    ...fault(proxy),
    async stop() {
      closeAll()
      await proxy.stop()
      await server.stop()
    },
  }
}

/** What was committed is there after the server was killed. */
async function onKilledPostgres(): Promise<FailingStore> {
  const server = await postgres.start({ own: true })
  const [near, far] = [postgres.open(server.url), postgres.open(server.url)]
  const store = near.makeStore()
  await store.prepare()
  return {
    store,
    elsewhere: far.makeStore(),
    takeDown: () => server.kill('SIGKILL'),
    bringBack: () => server.restart(),
    async stop() {
      await Promise.all([near.end(), far.end()])
      await server.stop()
    },
  }
}

const STORES = {
  'Redis that swallows requests and replies': onRedis(swallowAll),
  'Redis whose replies are swallowed': onRedis(swallowReplies),
  'Redis that refuses connections': onRedis(refuseConnections),
  'memcached that swallows requests and replies': onMemcached(swallowAll),
  'PostgreSQL that is killed and restarted': onKilledPostgres,
} as const

const TIMEOUT_MS = 1000
/** What a busy machine may add. */
const SLACK_MS = 3000
const RIGHT = 'analytical engine'
const HOME = '127.5.0.1'
const ATTACKER = '127.5.0.2'
const CROWD = Array.from({ length: 12 }, (_, i) => `127.6.0.${i + 1}`)
const LIMIT = 5
/** Wrong guesses before the store is down. */
const BEFORE = 3
/** More than one address can use up. */
const ACCOUNT_LIMIT = 12
const lasting = (limit: number): Policy => slidingWindow({ limit, window: LONG })
const LIMITS = { address: lasting(50), account: lasting(ACCOUNT_LIMIT), accountAndAddress: lasting(LIMIT) }

type Guard = LoginGuard

interface Attempt {
  readonly username: string
  readonly from: string
}

interface Login {
  readonly guard: Guard
  /** Wrong guesses that reached the handler. */
  readonly guesses: Attempt[]
  /** Where decisions came from. */
  readonly sources: Set<string | undefined>
  /** How long answers took, in milliseconds. */
  readonly took: number[]
  /** What happens between the charge and the answer. */
  meanwhile: (() => Promise<void>) | undefined
  attempt(username: string, password: string, from: string): Promise<number>
}

const guardOn = (store: Store, name: string): Guard =>
  loginGuard({ field: 'username', name, store, limits: LIMITS, timeout: `${TIMEOUT_MS}ms` })

async function startLogin(store: Store, name: string): Promise<Login> {
  const guard = guardOn(store, name)
  guard.limiter.events.on('storeError', () => undefined).on('refundFailed', () => undefined)
  const [guesses, sources, took] = [[] as Attempt[], new Set<string | undefined>(), [] as number[]]
  const app = express()
  app.post('/login', express.urlencoded(), guard, async (req, res) => {
    await login.meanwhile?.()
    sources.add(req.rateLimit?.source)
    const isRight = req.body.password === RIGHT
    if (!isRight) guesses.push({ username: req.body.username, from: req.ip as string })
    res.status(isRight ? 200 : 401).end()
  })
  const served = await serve(app)
  const login: Login = {
    guard,
    guesses,
    sources,
    took,
    meanwhile: undefined,
    async attempt(username, password, from) {
      const startedMs = performance.now()
      const body = new URLSearchParams({ username, password }).toString()
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const { status } = await send(served, { method: 'POST', path: '/login', headers, body, from })
      took.push(performance.now() - startedMs)
      return status
    },
  }
  return login
}

async function leftOf(guard: Guard, username: string, ip: string): Promise<Record<string, number>> {
  const { parts, source } = await guard.limiter.peek({ body: { username }, ip } as unknown as Request)
  if (source !== 'store') return {} // it is not back yet
  return Object.fromEntries(parts.map(({ name, remaining }) => [name, remaining]))
}

/** Defines the tests of a guarded login while some stores are down. */
export function describeOutage(...stores: (keyof typeof STORES)[]): void {
  describe.each(stores)('during an outage of the store (%s), a guarded login', (name) => {
    let failing: FailingStore
    let login: Login
    let elsewhere: Guard
    let runs = 0
    const guessesAt = (username: string, from?: string) =>
      login.guesses.filter((guess) => guess.username === username && (from ?? guess.from) === guess.from)
        .length
    const of = (from: string) => guessesAt('ada', from)
    /** Guesses at a name, eight at a time. */
    async function guess(count: number, username: string, from: (i: number) => string): Promise<void> {
      let sent = 0
      async function work(): Promise<void> {
        while (sent < count) await login.attempt(username, 'wrong', from(sent++))
      }
      await Promise.all(Array.from({ length: 8 }, work))
    }

    async function recover(): Promise<void> {
      await failing.bringBack()
      await until('the store decides again', async () => {
        await login.guard.limiter.health()
        return (await leftOf(login.guard, 'ada', HOME)).account !== undefined
      })
    }

    beforeAll(async () => {
      failing = await STORES[name]()
    }, INSTALL_TIMEOUT_MS)

    beforeEach(async () => {
      const run = `run-${++runs}`
      login = await startLogin(failing.store, run)
      elsewhere = guardOn(failing.elsewhere, run)
      // Connections are made, and scripts are known, before the time of requests is measured.
      await until('the store answers in time', async () => {
        const { source } = await login.guard.limiter.peek({ body: {}, ip: HOME } as unknown as Request)
        return source === 'store'
      })
      await until('the other process reaches it, too', async () => {
        const { source } = await elsewhere.limiter.peek({ body: {}, ip: HOME } as unknown as Request)
        return source === 'store'
      })
    })

    afterEach(closeServers)
    afterAll(() => failing?.stop())

    test('admits at most the limits of the store and of the fallback, however often the store goes down', async () => {
      for (let i = 0; i < BEFORE; i++) expect(await login.attempt('ada', 'wrong', ATTACKER)).toBe(401)
      expect(login.sources).toEqual(new Set(['store']))
      await failing.takeDown()
      await guess(40, 'ada', () => ATTACKER)
      const during = of(ATTACKER) - BEFORE
      expect(during).toBeGreaterThan(0) // the fallback decides, and does not deny everybody
      expect(during).toBeLessThanOrEqual(LIMIT)
      expect(login.sources).toContain('local')

      expect(await login.attempt('ada', RIGHT, HOME)).toBe(200)
      await guess(20, 'grace', (i) => CROWD[i % CROWD.length] as string)
      expect(guessesAt('grace')).toBe(ACCOUNT_LIMIT)
      expect(Math.max(...login.took)).toBeLessThan(TIMEOUT_MS + SLACK_MS)

      await recover()
      await guess(40, 'grace', (i) => CROWD[i % CROWD.length] as string)
      await until('the store has no units left', async () => {
        await guess(10, 'ada', () => ATTACKER)
        return (await leftOf(elsewhere, 'ada', ATTACKER))['account-and-address'] === 0
      })

      await failing.takeDown()
      await guess(20, 'ada', () => ATTACKER)
      await guess(20, 'grace', () => HOME)
      expect(of(ATTACKER)).toBeLessThanOrEqual(2 * LIMIT)
      expect(guessesAt('grace')).toBeLessThanOrEqual(2 * ACCOUNT_LIMIT)
      await recover()
      expect(await login.attempt('ada', RIGHT, HOME)).toBe(200)
    })

    test('admits a user at once even if the failures cannot be cleared, and emits refundFailed', async () => {
      const failed = jest.fn()
      login.guard.limiter.events.on('refundFailed', failed)
      for (let i = 0; i < 2; i++) expect(await login.attempt('mary', 'wrong', HOME)).toBe(401)
      login.meanwhile = () => failing.takeDown()
      expect(await login.attempt('mary', RIGHT, HOME)).toBe(200)
      expect(login.took.at(-1)).toBeLessThan(TIMEOUT_MS + SLACK_MS)
      await until('refundFailed is emitted', () => failed.mock.calls.length > 0)
      expect(await login.attempt('mary', RIGHT, HOME)).toBe(200)
      login.meanwhile = undefined
      await failing.bringBack()
      await until(
        'the store is back',
        async () => (await leftOf(elsewhere, 'mary', HOME)).account !== undefined,
      )
      const { account } = await leftOf(elsewhere, 'mary', HOME)
      expect(account).toBeLessThanOrEqual(ACCOUNT_LIMIT) // a store that counts unheard may have heard that it is to forget
      expect(account).toBeGreaterThanOrEqual(ACCOUNT_LIMIT - 4)
    })
  })
}
