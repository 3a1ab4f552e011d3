import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createLimiter, fixedWindow, sharedSettings } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Redis } from 'ioredis'
import { type Child, startChild } from '../../bench/harness/child.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { connect } from './connect.js'
import { CAPACITY, type Order, type Outcomes, PER_SECOND, WAITING } from './wait-child.js'

let server: RedisServer
let client: Redis
let program: Bundle
let children: Child[]

beforeAll(async () => {
  server = await startRedis()
  client = await connect(server.url)
  program = await bundle(join(__dirname, 'wait-child.ts'))
  const url = pathToFileURL(program.path)
  children = [1, 2].map(() => startChild(url, [server.url], 256))
  await waitIn({ name: 'calls', ids: [] }) // until both are connected
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await Promise.all((children ?? []).map((child) => child.end()))
  await program?.remove()
  client?.disconnect()
  await server?.stop()
})

const waitIn = (order: Order) => Promise.all(children.map((child) => child.ask<Outcomes>(order)))

test('charges of two processes wait in order within each, and together get no more than the limit', async () => {
  const ids = Array<string>(100).fill('api')
  const sinceMs = performance.now()
  const outcomes = await waitIn({ name: 'calls', ids })
  const tookMs = performance.now() - sinceMs
  for (const each of outcomes) {
    expect(each.map(({ i }) => i)).toEqual(ids.map((_, i) => i))
    expect(each.every(({ allowed, source }) => allowed && source === 'store')).toBe(true)
  }
  expect(200).toBeLessThanOrEqual(CAPACITY + (tookMs / 1000) * PER_SECOND + 1)
})

test('a document that another process changes reaches charges that would wait for an hour', async () => {
  const store = redisStore(client)
  const policy = fixedWindow({ limit: 1, window: '1h' })
  const limiter = createLimiter({ name: 'jobs', policy, key: (id: string) => id, store, timeout: 5000 })
  const set = (document: object) =>
    sharedSettings(store).change('jobs', () => document, { by: 'ada', reason: 'a test' })
  for (const id of ['acme', 'mallory']) await limiter.charge(id)

  await client.del(WAITING)
  const waits = waitIn({ name: 'jobs', ids: ['acme', 'mallory', 'acme'] })
  await until('both processes wait', async () => (await client.get(WAITING)) === '2')
  const override = { identity: 'acme', limits: { jobs: { limit: 5 } } }
  await set({ overrides: [override, { identity: 'mallory', block: true }] })
  for (const outcomes of await waits)
    expect(outcomes.map(({ i, allowed, source }) => [i, allowed ? 'allowed' : source])).toEqual([
      [1, 'blocked'],
      [0, 'allowed'],
      [2, 'allowed'],
    ])
  expect(await limiter.peek('acme')).toMatchObject({ remaining: 0 })
  await limiter.close()
})
