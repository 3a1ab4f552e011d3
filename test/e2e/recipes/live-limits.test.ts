import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import { createLimiter, type Limiter, memoryStore, type SharedSettings, sharedSettings } from 'headgate'
import { until } from '../../support/servers/wait.js'
import { writeRecipe } from './recipe.js'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function recipe<T>(heading: string): Promise<T> {
  const { file, remove } = writeRecipe(heading)
  cleanups.push(remove)
  return (await import(file)) as T
}

test('language models: a response takes what it cost, of the tokens and of each budget', async () => {
  type Gateway = { limit: RequestHandler & { limiter: Limiter<object> } }
  const { limit } = await recipe<Gateway>('A gateway for language models')
  const accounts: Readonly<Record<string, object>> = {
    'key-ada': { user: 'ada', team: 'search', organization: 'acme' },
    'key-bob': { user: 'bob', team: 'ads', organization: 'globex' },
  }
  const app = express()
  app.use((req, res, next) => {
    const account = accounts[req.get('x-api-key') ?? '']
    if (account === undefined) return res.sendStatus(401)
    Object.assign(req, { account })
    return next()
  })
  app.post('/v1/complete', limit, (_req, res) => {
    res.locals.tokens = 1734
    res.json({ text: 'Hello.' })
  })
  const server = app.listen(0)
  cleanups.push(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/complete`
  const complete = (key: string) =>
    fetch(url, { method: 'POST', headers: { 'x-api-key': key, connection: 'close' } })
  expect((await complete('unknown')).status).toBe(401)
  const statuses: number[] = []
  for (let i = 0; i < 61; i++) {
    const response = await complete('key-ada')
    statuses.push(response.status)
    await response.arrayBuffer()
  }
  // Of 100,000 tokens, 57 responses took 1734 each, which left 1162: enough for the estimate of one more.
  const allowed = statuses.filter((status) => status === 200).length
  expect(allowed).toBe(58)
  expect(statuses.at(-1)).toBe(429)
  const { parts } = await limit.limiter.peek({ account: accounts['key-ada'] })
  const used = Object.fromEntries(parts.map(({ name, limit: most, remaining }) => [name, most - remaining]))
  const cost = 1734 * allowed
  expect(used).toMatchObject({ organization: cost, team: cost, user: cost })
  expect((await complete('key-bob')).status).toBe(200)
})

test('plans: an upgrade and a downgrade keep what was used', async () => {
  type Plans = { limiter: Limiter<{ id: string; plan: string }> }
  const { limiter } = await recipe<Plans>('Plans that change mid-month')
  cleanups.push(() => limiter.close())
  await limiter.charge({ id: 'acme', plan: 'free' }, { cost: 900 })
  expect(await limiter.charge({ id: 'acme', plan: 'pro' }, { cost: 0 })).toMatchObject({ remaining: 9100 })
  await limiter.charge({ id: 'acme', plan: 'pro' }, { cost: 500 })
  expect(await limiter.charge({ id: 'acme', plan: 'free' })).toMatchObject({ allowed: false, remaining: 0 })
  expect(await limiter.charge({ id: 'umbrella', plan: 'free' })).toMatchObject({ remaining: 999 })
})

test('one customer has another limit until the override ends, and others do not', async () => {
  type Friday = { raise(settings: SharedSettings, identity: string, until: string): Promise<void> }
  const { raise } = await recipe<Friday>('A temporary limit for one customer')
  const store = memoryStore()
  const settings = sharedSettings(store)
  const key = (customer: string) => customer
  const limiter = createLimiter({ name: 'api', limit: 100, window: '1m', key, store, settings })
  cleanups.push(() => limiter.close())
  const friday = new Date(Date.now() + 7 * 86_400_000).toISOString()
  await raise(settings, 'acme', friday)
  await until('acme has its limit', async () => (await limiter.charge('acme')).limit === 5000)
  expect(await limiter.charge('umbrella')).toMatchObject({ limit: 100, remaining: 99 })
  await raise(settings, 'acme', friday) // again, which replaces the first
  jest.useFakeTimers({
    now: Date.now() + 8 * 86_400_000,
    doNotFake: ['setTimeout', 'setInterval', 'nextTick', 'performance'],
  })
  cleanups.push(() => jest.useRealTimers())
  expect(await limiter.charge('acme')).toMatchObject({ limit: 100 })
})
