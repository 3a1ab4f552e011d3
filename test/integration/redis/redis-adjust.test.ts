import { createLimiter, type Limiter, slidingWindow } from 'headgate'
import { redisStore } from 'headgate/redis'
import { connect } from './connect.js'
import { useRedis } from './use-redis.js'

const CLIENTS = 4
const ROUNDS = 10
const REQUESTS = 25

const redis = useRedis()
test('adjustments of one busy key by several clients all succeed, and none is lost', async () => {
  const policy = slidingWindow({ limit: 1e6, window: '1h' })
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connect(redis.server.url)))
  const limiters = clients.map((client) =>
    createLimiter({
      ...{ name: 'busy', policy, key: (user: string) => user, store: redisStore(client) },
      timeout: 10_000,
    }),
  )

  async function use(limiter: Limiter<string>): Promise<void> {
    const decision = await limiter.charge('ada')
    await limiter.adjust(decision, 3)
    await limiter.penalize('ada', 2)
    await limiter.reward('ada', 1)
  }

  for (let round = 0; round < ROUNDS; round++)
    await Promise.all(limiters.flatMap((limiter) => Array.from({ length: REQUESTS }, () => use(limiter))))
  const { limit, remaining } = await (limiters[0] as Limiter<string>).peek('ada')
  expect(limit - remaining).toBe(CLIENTS * ROUNDS * REQUESTS * 4)
  await Promise.all(limiters.map((limiter) => limiter.close()))
  for (const client of clients) client.disconnect()
})
