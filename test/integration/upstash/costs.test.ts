import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { createLimiter, fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { upstashStore } from 'headgate/upstash'
import { useUpstash } from './use-upstash.js'

const used = useUpstash()
const PAGE = readFileSync(join(__dirname, '../../../docs/stores/upstash.md'), 'utf8')
const LIMIT = 4
const MINUTE = { limit: LIMIT, window: '1m' } as const
const BUCKET = tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '1d' })

/** Decides a request of a client. Resolves with whether it was allowed. */
type Decide = (client: string) => Promise<boolean>

/** Returns a decision by headgate. Until a database knows a script, it gets one more request. */
async function byHeadgate(...policies: readonly Policy[]): Promise<Decide> {
  const store = upstashStore({ url: used.rest.url, token: used.rest.token })
  const limits = policies.map((policy, i) => ({
    name: `limit-${i}`,
    policy,
    key: (client: string) => client,
  }))
  const limiter = createLimiter({ limits, store, denyCache: false, timeout: '10s' })
  return async (client) => (await limiter.charge(client)).allowed
}

/** Returns a decision by `@upstash/ratelimit`: with several limits, one call after the other. */
async function byRatelimit(limits: readonly Parameters<typeof limiterOf>[0][]): Promise<Decide> {
  const limiters = limits.map(limiterOf)
  return async (client) => {
    for (const each of limiters) if (!(await each.limit(client)).success) return false
    return true
  }
}

function limiterOf(limiter: ConstructorParameters<typeof Ratelimit>[0]['limiter'], i: number): Ratelimit {
  const redis = new Redis({ url: used.rest.url, token: used.rest.token })
  return new Ratelimit({ redis, limiter, prefix: `limit-${i}`, ephemeralCache: false, analytics: false })
}

/** Returns the cells of a row of the page: what the first, a later and a denied decision of a client cost. */
async function cells(decide: Decide): Promise<string> {
  await decide('somebody else')
  const costOf = async (isAllowed: boolean): Promise<string> => {
    await used.rest.commandCount()
    used.rest.requests.length = 0
    expect(await decide('ada')).toBe(isAllowed)
    return `${used.rest.requests.length} / ${await used.rest.commandCount()}`
  }
  const ofAllowed = [await costOf(true), await costOf(true)]
  for (let i = 2; i < LIMIT; i++) await decide('ada')
  return [...ofAllowed, await costOf(false)].join(' | ')
}

const theirBucket = Ratelimit.tokenBucket(LIMIT, '1 d', LIMIT)
const theirWindow = Ratelimit.slidingWindow(LIMIT, '1 m')
const ROWS: readonly (readonly [row: string, make: () => Promise<Decide>])[] = [
  ['headgate, `tokenBucket`', () => byHeadgate(BUCKET)],
  ['`@upstash/ratelimit`, token bucket', () => byRatelimit([theirBucket])],
  ['headgate, `slidingWindow`', () => byHeadgate(slidingWindow(MINUTE))],
  ['`@upstash/ratelimit`, sliding window', () => byRatelimit([theirWindow])],
  ['headgate, `fixedWindow`', () => byHeadgate(fixedWindow(MINUTE))],
  ['`@upstash/ratelimit`, fixed window', () => byRatelimit([Ratelimit.fixedWindow(LIMIT, '1 m')])],
  ['headgate, `tokenBucket` and `slidingWindow`', () => byHeadgate(BUCKET, slidingWindow(MINUTE))],
  ['`@upstash/ratelimit`, both in two calls', () => byRatelimit([theirBucket, theirWindow])],
]

test.each(ROWS)('the page says what a decision costs: %s', async (row, make) => {
  expect(PAGE).toContain(`| ${row} | ${await cells(await make())} |`)
})
