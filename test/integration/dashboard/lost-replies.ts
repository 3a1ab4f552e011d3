import type { Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startMemcached } from '../../support/servers/memcached.js'
import { startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { connections } from '../memcached/clients.js'
import { dashboardProcess } from './dashboard-process.js'

const STEP_MS = 300_000
const HOUR_MS = 3_600_000

/** A store through a proxy, and how to end it. */
interface Proxied {
  readonly store: Store
  readonly proxy: FaultyProxy
  stop(): Promise<void>
}

async function onRedis(): Promise<Proxied> {
  const server = await startRedis({ own: true })
  const proxy = await startProxy(server)
  const client = new Redis(`redis://${proxy.url}`, {
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => 10,
  })
  client.on('error', () => undefined)
  return {
    store: redisStore(client),
    proxy,
    async stop() {
      client.disconnect()
      await proxy.stop()
      await server.stop()
    },
  }
}

async function onMemcached(): Promise<Proxied> {
  const server = await startMemcached({ own: true })
  const proxy = await startProxy(server)
  const { open, closeAll } = connections()
  return {
    store: memcachedStore(open(proxy.url)),
    proxy,
    async stop() {
      closeAll()
      await proxy.stop()
      await server.stop()
    },
  }
}

/** Loses the replies to writes, after more requests in each of some attempts. */
export function describeLostReplies(attempts: number): void {
  describe.each([
    ['Redis', onRedis],
    ['memcached', onMemcached],
  ])('on %s', (_, start) => {
    let proxied: Proxied
    beforeAll(async () => {
      proxied = await start()
    }, INSTALL_TIMEOUT_MS)
    afterAll(() => proxied?.stop())

    test('replies that are lost double nothing in the history, the demands and the log, and lose nothing', async () => {
      const { store, proxy } = proxied
      let nowMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS // all steps are of one window
      const { limiter, group, stop } = dashboardProcess('one', { store, limit: 3, clock: () => nowMs })
      await group.tick()
      for (let step = 0; step < 3; step++) {
        for (let i = 0; i <= step; i++) await limiter.charge('ada')
        nowMs += STEP_MS
        await group.tick()
      }
      nowMs += 60_000
      group.log.add({ id: 'event', atMs: nowMs, kind: 'tune', text: 'once' })
      for (let attempt = 0; attempt < attempts; attempt++) {
        // Each attempt gets one reply further.
        let requests = 0
        proxy.behave({
          onRequest() {
            if (requests++ >= attempt) proxy.behave({ swallow: 'replies' })
            return 'pass'
          },
        })
        await group.tick()
        proxy.cut()
        proxy.behave({})
        await new Promise((resolve) => setImmediate(resolve))
      }
      await until('the store is back', async () => {
        nowMs += 10_000
        await group.tick()
        await group.refresh()
        return group.recordProblem() === undefined && group.problem() === undefined
      })
      const history = group.histories.get('api')
      expect(await history?.steps()).toMatchObject([
        { allowed: 1, denied: 0 },
        { allowed: 2, denied: 0 },
        { allowed: 0, denied: 3 },
      ])
      expect(await history?.demands()).toMatchObject([{ clients: 1, demands: [{ peak: 6 }] }])
      await group.refresh()
      expect(group.log.events().filter(({ id }) => id === 'event')).toHaveLength(1)
      await stop()
    })
  })
}
