import type { Fixes } from '../options/fixes.js'
import { words } from '../options/placements.js'

/** What to write in place of options of `rateLimit`, and of packages with the same purpose. */
const TABLE = (): Readonly<Record<string, string>> => ({
  'Leave it out: the guard finds its limit. To bound it, write minLimit and maxLimit.':
    'limit initialLimit window windowMs policy limits cost max concurrency candidate settings',
  'Leave it out: the guard counts requests in this process only.':
    'secret onStoreError fallbackShare denyCache',
  'Leave it out: the guard measures the event loop itself.':
    'maxEventLoopDelay maxEventLoopUtilization sampleInterval',
  'Leave it out: the guard measures how long requests take, not memory.': 'maxHeapUsedBytes maxRssBytes',
  'Leave it out: Retry-After is random, and longer the more requests are denied, up to 30 seconds.':
    'retryAfter',
  'Leave it out: a place is taken until the first byte of the response.': 'count actualCost delay',
  'Leave it out: the response to a denied request has no quota headers.': 'headers resetFormat',
  maxWait: 'timeout queueTimeout maxQueueTime',
  maxLimit: 'maxConcurrent maxConcurrency maxInFlight limitMax',
  minLimit: 'minConcurrency limitMin',
  priority: 'prioritize priorities',
  tenant: 'tenantId partition',
  weight: 'weights',
  key: 'client keyGenerator',
  onDenied: 'handler pressureHandler onLimit',
  skip: 'exposeStatusRoute exclude',
})

/** Returns what to write in place of options that the guard does not have. */
/* @__NO_SIDE_EFFECTS__ */
export function overloadFixes(): Fixes {
  const entries = Object.entries(TABLE()).flatMap(([fix, names]) => words(names).map((name) => [name, fix]))
  return Object.fromEntries(entries)
}
