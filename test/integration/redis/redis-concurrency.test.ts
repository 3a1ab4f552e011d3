import { concurrency } from 'headgate'
import { redisStore } from 'headgate/redis'
import { agedState, describeConcurrency } from '../../support/concurrency-suite.js'
import { serverTimeMs } from './connect.js'
import { atRest, bytesOf } from './rest.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()

describeConcurrency('redisStore', async () => {
  await redis.client.flushdb()
  return {
    store: redisStore(redis.client),
    now: () => serverTimeMs(redis.client),
    async age(slices) {
      for (const key of await redis.client.keys('*')) {
        const state = await atRest(redis.client, key)
        if (state !== undefined && state.length === concurrency({ limit: 1 }).width)
          // not of another policy
          await redis.client.set(key, bytesOf(Number.POSITIVE_INFINITY, agedState(state, slices)))
      }
    },
    shiftsStates: true,
  }
})
