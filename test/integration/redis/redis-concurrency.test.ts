import { redisStore } from 'headgate/redis'
import { describeConcurrency } from '../../support/concurrency-suite.js'
import { serverTimeMs } from './connect.js'
import { bytesOf, stateOf } from './rest.js'
import { useRedis } from './use-redis.js'

/** The numbers in a state of concurrency; other policies' states are left alone. */
const WIDTH = 10

const redis = useRedis()

describeConcurrency('redisStore', async () => {
  await redis.client.flushdb()
  return {
    store: redisStore(redis.client),
    now: () => serverTimeMs(redis.client),
    async age(slices) {
      for (const key of await redis.client.keys('*')) {
        const state = stateOf((await redis.client.getBuffer(key)) as Buffer)
        if (state.length !== WIDTH) continue
        await redis.client.set(key, bytesOf([(state[0] as number) - slices, ...state.slice(1)]))
      }
    },
    shiftsStates: true,
  }
})
