import { consecutive } from 'headgate'
import { redisStore } from 'headgate/redis'
import { type Operation, StoreError } from 'headgate/store'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import { describeConformance } from './conformance.js'
import { loadGlide, openGlide } from './glide.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()
describeConformance('redisStore with Valkey GLIDE', () => redis.server.url, openGlide, 'sample')

test('a charge that GLIDE does not send, with too many in flight, is known to be unsent', async () => {
  const { GlideClient } = await loadGlide()
  const { hostname: host, port } = new URL(redis.server.url)
  const addresses = [{ host, port: Number(port) }]
  const client = await GlideClient.createClient({ addresses, inflightRequestsLimit: 5, requestTimeout: 5000 })
  try {
    const store = redisStore(client)
    const policy = consecutive({ limit: 1000 })
    await chargeStore(store, [[part('crowded', policy)]]) // the script is known from then on
    const charge: Operation = { type: 'charge', parts: [part('crowded', policy)] }
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => store.apply([charge])))
    const errors = outcomes.flat().filter((each) => each instanceof StoreError)
    expect(errors.length).toBeGreaterThan(0)
    for (const error of errors) expect(error).toMatchObject({ unsent: true, replied: false })
    expect(errors[0]?.message).toMatch(
      /^redis: Reached maximum inflight requests.*\. Raise the client's inflightRequestsLimit/,
    )
    const [left] = await remainingOf(store, policy, ['crowded'])
    expect(1000 - (left ?? 0)).toBe(1 + outcomes.length - errors.length)
  } finally {
    client.close()
  }
})
