/**
 * @jest-environment jsdom
 */
import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { memoryStore, rateLimit, requestDelay, sharedSettings } from 'headgate'
import { dashboard } from 'headgate/dashboard'
import { redisStore } from 'headgate/redis'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { until } from '../../support/servers/wait.js'
import { connections } from '../memcached/clients.js'
import { useRedis } from '../redis/use-redis.js'
import { chargeStores } from './charge-stores.js'
import { wholeLimits } from './whole-limits.js'

// Projects with a frontend often test their servers where jsdom replaces globals of Node.js, and lacks others.

const redis = useRedis()
const NOTE = { by: 'ada', reason: 'a test' }
const { open, closeAll } = connections()
let server: MemcachedServer

beforeAll(async () => {
  server = await startMemcached({ own: true })
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  closeAll()
  await server?.stop()
})

test('the globals are those of jsdom', () => {
  expect(navigator.userAgent).toContain('jsdom')
  expect([typeof setImmediate, typeof setTimeout(() => undefined, 0)]).toEqual(['undefined', 'number'])
})

test('stores decide', async () => {
  expect(await chargeStores({ redis: redis.client, memcached: open(server.url) })).toEqual(wholeLimits())
})

test.each<[string, (res: express.Response) => unknown]>([
  ['at once', (res) => res.send('slow down')],
  ['after a promise', (res) => Promise.resolve().then(() => res.send('slow down'))],
  ['after a timer', (res) => setTimeout(() => res.send('slow down'), 5)],
])('an async onDenied that responds %s sends a 429', async (_when, respond) => {
  const limit = rateLimit({
    limit: 1,
    window: '1h',
    onDenied: async (_req, res) => void (await respond(res as never)),
  })
  const app = express().use(limit, (_req, res) => void res.send('ok'))
  const listening = app.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  try {
    const statuses = []
    for (let i = 0; i < 2; i++) {
      const [response] = await once(request({ port, host: '127.0.0.1' }).end(), 'response')
      response.resume()
      statuses.push(response.statusCode)
    }
    expect(statuses).toEqual([200, 429])
  } finally {
    listening.close()
  }
})

test('a server limits, delays, responds to denials by onDenied, follows settings and shows its dashboard', async () => {
  const settings = sharedSettings(redisStore(redis.client))
  const onDenied = async (_req: unknown, res: express.Response) => {
    await Promise.resolve()
    res.status(429).send('slow down')
  }
  const denying = rateLimit({
    name: 'denying',
    limit: 1,
    window: '1h',
    store: memoryStore(),
    onDenied,
    settings,
  })
  const delaying = rateLimit({ limit: 9, window: '1s', delay: requestDelay({ after: 1, by: '20ms' }) })
  const app = express()
  app.use('/denying', denying)
  app.use('/delaying', delaying)
  app.use('/page', dashboard({ limiters: [denying.limiter], authorize: () => true }))
  app.use((_req, res) => void res.send('ok'))
  const listening = app.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  const statusOf = async (path: string) => {
    const [response] = await once(request({ port, path, host: '127.0.0.1' }).end(), 'response')
    response.resume()
    return response.statusCode
  }
  try {
    const paths = ['/denying', '/denying', '/delaying', '/delaying', '/page/']
    const statuses = []
    for (const path of paths) statuses.push(await statusOf(path))
    expect(statuses).toEqual([200, 429, 200, 200, 200])
    await settings.change(
      'denying',
      (document) => ({ ...document, overrides: [{ network: '127.0.0.1', block: true }] }),
      NOTE,
    )
    expect(await settings.read('denying')).toBeDefined()
    await until('the change is in force', async () => (await statusOf('/denying')) === 403)
  } finally {
    denying.limiter.close()
    listening.closeAllConnections()
    listening.close()
  }
})
