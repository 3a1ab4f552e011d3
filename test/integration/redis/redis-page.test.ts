import { ban, consecutive } from 'headgate'
import { redisStore } from 'headgate/redis'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { costsOf, costTable, DECISIONS, type Decisions } from '../../support/decision-costs.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()

const banned = ban(consecutive({ limit: 5 }), { after: 3, within: '1d', for: '1d' })
const decisions: Decisions = {
  ...DECISIONS,
  'of a `ban`, allowed': async (store, client) => {
    await chargeOne(store, part(client, banned))
    return () => chargeOne(store, part(client, banned))
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

test('a decision costs what the page says', async () => {
  expect(costTable('redis')).toEqual(await costsOf(redisStore(redis.client), decisions, costOf))
})
