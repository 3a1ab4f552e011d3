import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ban, consecutive, createLimiter, fixedWindow, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Store } from 'headgate/store'
import { chargeOne, part, receiptOf, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { ROOT } from '../../e2e/package/run.js'
import { refundStore } from '../../support/store-calls.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()
let store: Store
beforeAll(() => {
  store = redisStore(redis.client)
})

const bucket = tokenBucket({ capacity: 5, refill: 5, every: '1d' })
const window = fixedWindow({ limit: 5, window: '1d' })
const banned = ban(consecutive({ limit: 5 }), { after: 3, within: '1d', for: '1d' })
/** The same key slot, as all limits of an identity have. */
const both = (client: string) => [part(`{${client}}:bucket`, bucket), part(`{${client}}:window`, window)]

/** For each row of the page: what to do with a new client, and before that. */
const ROWS: Readonly<Record<string, (client: string) => Promise<() => unknown>>> = {
  'the first of a client': async (id) => () => chargeOne(store, part(id, bucket)),
  allowed: async (id) => {
    await chargeOne(store, part(id, bucket))
    return () => chargeOne(store, part(id, bucket))
  },
  denied: async (id) => {
    await chargeOne(store, part(id, bucket, 5))
    return () => chargeOne(store, part(id, bucket))
  },
  'of two limits, allowed': async (id) => {
    await chargeOne(store, ...both(id))
    return () => chargeOne(store, ...both(id))
  },
  'of two limits, denied by the second': async (id) => {
    await chargeOne(store, part(`{${id}}:window`, window, 5))
    return () => chargeOne(store, ...both(id))
  },
  'of a `ban`, allowed': async (id) => {
    await chargeOne(store, part(id, banned))
    return () => chargeOne(store, part(id, banned))
  },
  refund: async (id) => {
    const receipt = await receiptOf(store, id, bucket, 2)
    return () => refundStore(store, [{ ...receipt, cost: 1 }])
  },
  peek: async (id) => {
    await chargeOne(store, part(id, bucket))
    return () => remainingOf(store, bucket, [id])
  },
  'denied by the [denial cache](../reliability.md)': async (id) => {
    const limiter = createLimiter({ name: id, policy: bucket, key: () => id, store, timeout: '10s' })
    for (let i = 0; i < 6; i++) await limiter.charge(undefined)
    return () => limiter.charge(undefined)
  },
}

const WRITES = ['set', 'setrange', 'del', 'unlink', 'pexpire', 'pexpireat']
/** What the test itself sends. */
const OWN = ['config|resetstat', 'info']

/** Returns how many requests, commands in all and writes a step takes, by the statistics of the server. */
async function costOf(step: () => unknown): Promise<readonly number[]> {
  await redis.client.call('CONFIG', 'RESETSTAT')
  await step()
  const stats = String(await redis.client.call('INFO', 'commandstats'))
  const calls = Array.from(stats.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm), ([, name = '', count]) => {
    return [name, Number(count)] as const
  }).filter(([name]) => !OWN.includes(name))
  const sum = (isCounted: (name: string) => boolean) =>
    calls.reduce((total, [name, count]) => total + (isCounted(name) ? count : 0), 0)
  return [sum((name) => name === 'evalsha'), sum(() => true), sum((name) => WRITES.includes(name))]
}

const page = readFileSync(join(ROOT, 'docs/stores/redis.md'), 'utf8')
const [, table = ''] = /^\| decision \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(page) ?? []
const rows = table
  .trim()
  .split('\n')
  .map((line) => line.split('|').slice(1, -1))
  .map(([decision = '', ...figures]) => [decision.trim(), figures.map(Number)] as const)

test('the page has a row for each decision that is counted here', () => {
  expect(rows.map(([decision]) => decision)).toEqual(Object.keys(ROWS))
})

test('a decision costs what the page says', async () => {
  const decisions = Object.entries(ROWS)
  for (const [i, [, prepare]] of decisions.entries()) await (await prepare(`first-${i}`))() // loads the scripts
  const counted: (readonly [string, readonly number[]])[] = []
  for (const [i, [decision, prepare]] of decisions.entries())
    counted.push([decision, await costOf(await prepare(`second-${i}`))])
  expect(counted).toEqual(rows)
})
