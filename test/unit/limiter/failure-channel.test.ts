import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { candidateLimits, createLimiter, type FailureMessage, memoryStore, sharedSettings } from 'headgate'
import { prometheusMetrics } from 'headgate/metrics'
import type { Documents } from 'headgate/store'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { brokenStore } from '../../support/fault-stores.js'

const key = (id: string) => id
const limit = { limit: 1, window: '1m' } as const
const received: FailureMessage[] = []
const receive = (message: unknown) => void received.push(message as FailureMessage)

beforeEach(() => {
  received.length = 0
  subscribe('headgate:failure', receive)
  jest.useFakeTimers()
})
afterEach(() => {
  unsubscribe('headgate:failure', receive)
  jest.useRealTimers()
})

/** Lets a candidate fail twice, and the settings of another limiter once. */
async function failInManyWays(): Promise<void> {
  const candidate = candidateLimits<string>({
    ...limit,
    key: () => {
      throw new Error('no key')
    },
  })
  const tried = createLimiter<string>({ name: 'tried', ...limit, key, candidate })
  tried.events.on('candidateFailed', () => {})
  for (let i = 0; i < 2; i++) await tried.charge('ada')
  const store = memoryStore()
  await (store.documents as Documents).replace('hg:settings:api', '{"broken', undefined)
  const api = createLimiter({ name: 'api', ...limit, key, store, settings: sharedSettings(store) })
  api.events.on('settingsFailed', () => {})
  await jest.advanceTimersByTimeAsync(1000)
  await Promise.all([tried.close(), api.close()])
}

test('the channel carries each failure that is not about one charge, with the limiter and the error', async () => {
  await failInManyWays()
  expect(received).toEqual([
    { limiter: 'tried', event: 'candidateFailed', error: new Error('no key') },
    { limiter: 'tried', event: 'candidateFailed', error: new Error('no key') },
    { limiter: 'api', event: 'settingsFailed', error: expect.any(TypeError) },
  ])
})

test('failures of charges are on the channel headgate:store, and not on this one', async () => {
  const limiter = createLimiter({ name: 'api', ...limit, key, store: brokenStore() })
  const errors: unknown[] = []
  limiter.events.on('storeError', (error) => errors.push(error))
  await limiter.charge('ada')
  expect([errors.length, received]).toEqual([1, []])
})

test('metrics count failures by limiter and event', async () => {
  const register = new Registry()
  const stop = prometheusMetrics({ register, Counter, Gauge, Histogram }, { register })
  await failInManyWays()
  const lines = (await register.metrics()).split('\n').filter((line) => line.startsWith('headgate_failures'))
  stop()
  expect(lines).toEqual([
    'headgate_failures_total{limiter="tried",event="candidateFailed"} 2',
    'headgate_failures_total{limiter="api",event="settingsFailed"} 1',
  ])
})
