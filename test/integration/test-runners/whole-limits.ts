import { ALL_OVERRIDES } from './change-settings.js'
import { LIMIT } from './charge-stores.js'

/** What each store allows of that. A process may keep the last unit of a lease. */
export const wholeLimits = (limit = LIMIT) => ({
  Redis: limit,
  'leases on Redis': expect.closeTo(limit, -1),
  memcached: limit,
  'counters on memcached': limit,
  'two processes that compare and swap': limit,
  'overrides in settings': ALL_OVERRIDES,
})
