import Bottleneck from 'bottleneck'
import { Redis } from 'ioredis'
import { type Contender, closeLater } from '../contender.js'

/** With `highWater: 0`, a job that cannot start at once is dropped, and not queued. */
export const bottleneck: Contender = {
  name: 'bottleneck',
  findsClients: false,
  denies: false,
  limiter([{ limit, windowMs }]) {
    const group = new Bottleneck.Group({
      ...{ reservoir: limit, reservoirRefreshAmount: limit, reservoirRefreshInterval: windowMs },
      ...{ highWater: 0, strategy: Bottleneck.strategy.OVERFLOW },
    })
    return async (client) => {
      try {
        await group.key(client).schedule(async () => {})
        return { allowed: true }
      } catch (error) {
        if (error instanceof Bottleneck.BottleneckError) return { allowed: false }
        throw error
      }
    }
  },
  memory() {
    const group = new Bottleneck.Group({ maxConcurrent: 1 })
    return (client) => group.key(client).schedule(async () => {})
  },
  onRedis(url) {
    const clientOptions = { host: '127.0.0.1', port: Number(new URL(url).port) }
    const limiter = new Bottleneck({ datastore: 'ioredis', Redis, clientOptions, reservoir: 1000 })
    limiter.on('error', () => {}) // probes hold the server, and end it
    closeLater(() => limiter.disconnect(false))
    return async () => {
      await limiter.schedule(async () => {})
      return { allowed: true }
    }
  },
}
