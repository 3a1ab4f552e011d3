import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { candidateLimits, createLimiter, StoreError, type StoreMessage } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { StoreBatch, StoreCall } from '../../../src/pipe/store-channel.js'
import { until } from '../../support/servers/wait.js'
import { connect } from './connect.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()

const messages: StoreMessage[] = []
const receive = (message: unknown) => void messages.push(message as StoreMessage)

beforeEach(async () => {
  await new Promise(setImmediate) // the batch of the test before has ended
  messages.length = 0
  subscribe('headgate:store', receive)
})
afterEach(() => void unsubscribe('headgate:store', receive))

const calls = () => messages.filter((message): message is StoreCall => message.type === 'call')
const batches = () => messages.filter((message): message is StoreBatch => message.type === 'batch')
const key = (id: number) => id
/** Longer than a busy machine takes. */
const timeout = 10_000

test('publishes each call with its duration, and concurrent charges as one batch', async () => {
  const limiter = createLimiter({
    name: 'api',
    limit: 100,
    window: '1m',
    key,
    timeout,
    store: redisStore(redis.client),
  })
  await Promise.all(Array.from({ length: 10 }, (_, id) => limiter.charge(id)))
  expect(calls()).toHaveLength(10)
  const [first] = calls()
  for (const { durationMs, instance, ...call } of calls()) {
    expect(instance).toBe(first?.instance)
    expect(call).toEqual({ type: 'call', limiter: 'api', store: 'redis', operation: 'charge' })
    expect(durationMs).toBeGreaterThan(0)
  }
  await until('the batch has ended', () => batches().length > 0) // after its last charge
  expect(batches()).toEqual([{ type: 'batch', store: 'redis', size: 10, durationMs: expect.any(Number) }])
})

test('names the operations', async () => {
  const limiter = createLimiter({
    limit: 100,
    window: '1m',
    key,
    timeout,
    store: redisStore(redis.client),
    prefix: 'op',
  })
  const decision = await limiter.charge(1)
  await limiter.peek(1)
  await limiter.refund(decision)
  await limiter.penalize(1, 1)
  await limiter.forget(1)
  expect(calls().map(({ operation }) => operation)).toEqual(['charge', 'charge', 'refund', 'take', 'forget'])
})

test('the charge of a candidate goes into the batch of the limits in force', async () => {
  const limiter = createLimiter({
    name: 'tried',
    limit: 100,
    window: '1m',
    key,
    timeout,
    store: redisStore(redis.client),
    candidate: candidateLimits({ limit: 1, window: '1m', key }),
  })
  await limiter.charge(1)
  await limiter.charge(1)
  // A charge does not wait for its candidate, whose reply comes last.
  await until('the candidate is decided', () => limiter.candidateReport()?.requests === 2)
  await until('both batches have ended', () => batches().length === 2)
  expect(batches().map(({ size }) => size)).toEqual([2, 2])
  expect(limiter.candidateReport()).toMatchObject({ requests: 2, denied: 1, newlyDenied: 1 })
})

test('publishes errors and time-outs, and the states of the circuit breaker', async () => {
  const own = await connect(redis.server.url)
  const limiter = createLimiter({
    name: 'own',
    limit: 100,
    window: '1m',
    key,
    store: redisStore(own),
    timeout: '50ms',
  })
  limiter.events.on('storeError', () => {})
  await limiter.charge(1)
  own.disconnect()
  for (let i = 0; i < 30; i++) await limiter.charge(i)
  const failed = calls().filter(({ error }) => error !== undefined)
  expect(failed.length).toBeGreaterThan(0)
  for (const { error } of failed) expect(error).toBeInstanceOf(StoreError)
  expect(messages).toContainEqual({
    type: 'state',
    limiter: 'own',
    instance: failed[0]?.instance,
    store: 'redis',
    state: 'open',
    cause: expect.any(StoreError),
  })
  expect(calls().length).toBeLessThan(31) // an open circuit breaker calls nothing
  await limiter.close()
  const instance = failed[0]?.instance
  expect(messages.at(-1)).toEqual({ type: 'close', limiter: 'own', instance, store: 'redis' })
})
