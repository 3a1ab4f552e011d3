import { ALL_OVERRIDES } from './change-settings.js'
import { LIMIT } from './charge-stores.js'

/** What each store allows of that. A process may keep the last unit of a lease. */
export const WHOLE_LIMITS = {
  Redis: LIMIT,
  'leases on Redis': expect.closeTo(LIMIT, -1),
  memcached: LIMIT,
  'counters on memcached': LIMIT,
  'two processes that compare and swap': LIMIT,
  'overrides in settings': ALL_OVERRIDES,
}
