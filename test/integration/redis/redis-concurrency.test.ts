import { redisStore } from 'headgate/redis'
import { agedState, describeConcurrency, TTL_MS } from '../../support/concurrency-suite.js'
import { serverTimeMs } from './connect.js'
import { bytesOf, stateOf } from './rest.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()

describeConcurrency('redisStore', async () => {
  await redis.client.flushdb()
  return {
    store: redisStore(redis.client),
    now: () => serverTimeMs(redis.client),
    async age(slices) {
      for (const key of await redis.client.keys('*')) {
        const state = stateOf((await redis.client.getBuffer(key)) as Buffer)
        if (state[0] !== TTL_MS) continue // of another policy
        await redis.client.set(key, bytesOf(agedState(state, slices)))
      }
    },
    shiftsStates: true,
  }
})
