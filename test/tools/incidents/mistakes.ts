import { sharedSettings } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import type { Incident } from './incident.js'
import type { Sent } from './traffic.js'

/** 60 customers, each of whom sends a request every two seconds: within a limit of 60 a minute, and over one of 6. */
const browsing = (i: number): Sent => ({
  method: 'GET',
  path: `/products/${i % 100}`,
  from: `10.7.${i % 60}.1`,
})

export const limitLowered: Incident = {
  name: 'a limit that an operator lowered by mistake',
  async begin({ redis, traffic }) {
    const client = new Redis(redis.url)
    try {
      const settings = sharedSettings(redisStore(client))
      const by = { by: 'grace', reason: 'less load in the night' }
      await settings.change('api', { limits: { api: { limit: 6, window: '1m' } } }, by)
      return traffic.start(30, browsing)
    } finally {
      client.disconnect()
    }
  },
  limiter: 'api',
  says: [/\d+ clients/, /have been denied/, /grace set api to 6 per 1m at (?:\d+ \w+, )?\d\d:\d\d/],
  saysNot: /under attack/,
  clicks: [/^Undo/],
  isSolved: async ({ traffic }) => (await traffic.probe(browsing(0))) === 200,
}
