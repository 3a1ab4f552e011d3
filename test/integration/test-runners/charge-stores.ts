import type { Policy, Store } from 'headgate'
import type { Redis } from 'ioredis'
import type { Client } from 'memjs'
import { changeSettings } from './change-settings.js'

/** Clients that are connected already, as connecting takes timers. */
export interface Clients {
  readonly redis: Redis
  readonly memcached: Client
}

/** Twice as many charges are more than memcached is sent in one turn. */
export const LIMIT = 1100

/**
 * Imports the package, charges one store of each technique, and returns how many charges each allowed. Each
 * store has `limit` units, and gets two bursts of twice as many charges. Changes settings as well, and returns
 * how many overrides they have.
 */
export async function chargeStores(
  { redis, memcached }: Clients,
  limit = LIMIT,
): Promise<Record<string, number>> {
  const { createLimiter, fixedWindow, leased, tokenBucket } = await import('headgate')
  const { redisStore } = await import('headgate/redis')
  const { memcachedStore } = await import('headgate/memcached')
  const { compareAndSwapStore } = await import('headgate/store')
  const bucket = tokenBucket({ capacity: limit, refill: 1, every: '1h' })
  const window = fixedWindow({ limit, window: '1000d' })

  async function allowedBy(name: string, policy: Policy, store: Store): Promise<number> {
    const limiter = createLimiter({ name, policy, key: String, store, timeout: 20_000, onStoreError: 'deny' })
    let allowed = 0
    for (let burst = 0; burst < 2; burst++) {
      const charges = Array.from({ length: 2 * limit }, () => limiter.charge('ada'))
      for (const decision of await Promise.all(charges)) if (decision.allowed) allowed++
    }
    limiter.close()
    return allowed
  }

  const states = new Map<string, { state: never; version: number }>()
  const swapped = () =>
    compareAndSwapStore({
      name: 'swapped',
      read: async (keys) => keys.map((key) => states.get(key)),
      async swap({ key, version = 0, state }) {
        if ((states.get(key)?.version ?? 0) !== version) return false
        states.set(key, { state: state as never, version: version + 1 })
        return true
      },
    })

  const sharing = [swapped(), swapped()].map((store) => allowedBy('shared', bucket, store))
  const [first = 0, second = 0] = await Promise.all(sharing)
  return {
    Redis: await allowedBy('plain', bucket, redisStore(redis)),
    'leases on Redis': await allowedBy('leased', window, leased(redisStore(redis), { processes: 2 })),
    memcached: await allowedBy('swapped', bucket, memcachedStore(memcached)),
    'counters on memcached': await allowedBy('counted', window, memcachedStore(memcached)),
    'two processes that compare and swap': first + second,
    'overrides in settings': await changeSettings(redis),
  }
}
