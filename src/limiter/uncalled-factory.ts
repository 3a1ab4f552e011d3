import { byField } from '../keys/by-field.js'
import { byHeader } from '../keys/by-header.js'
import { byIp } from '../keys/by-ip.js'
import { byRoute } from '../keys/by-route.js'
import { byUser } from '../keys/by-user.js'
import { ban } from '../policies/ban.js'
import { concurrency } from '../policies/concurrency.js'
import { consecutive } from '../policies/consecutive.js'
import { fixedWindow } from '../policies/fixed-window.js'
import { quota } from '../policies/quota.js'
import { slidingLog } from '../policies/sliding-log.js'
import { slidingWindow } from '../policies/sliding-window.js'
import { tokenBucket } from '../policies/token-bucket.js'

/**
 * How to call each factory of keys and policies. A factory is a function, and so may be a key or a policy.
 * Comparing by identity is the only way to see that one was passed without being called. Factories from
 * another copy of this package are not recognised, and throw at the first charge.
 */
const CALLS: ReadonlyMap<unknown, string> = /* @__PURE__ */ new Map<unknown, string>([
  [byIp, 'byIp()'],
  [byUser, 'byUser()'],
  [byField, "byField('username')"],
  [byHeader, "byHeader('x-api-key')"],
  [byRoute, 'byRoute()'],
  [tokenBucket, "tokenBucket({ capacity: 100, refill: 100, every: '1m' })"],
  [slidingWindow, "slidingWindow({ limit: 100, window: '1m' })"],
  [slidingLog, "slidingLog({ limit: 5, window: '1m' })"],
  [fixedWindow, "fixedWindow({ limit: 100, window: '1m' })"],
  [quota, "quota({ limit: 10_000, per: 'month' })"],
  [consecutive, 'consecutive({ limit: 100 })'],
  [concurrency, 'concurrency({ limit: 5 })'],
  [ban, "ban(policy, { after: 15, within: '1m', for: '15m' })"],
])

/** Throws a `TypeError` for a factory itself, in place of the key or the policy that it makes. */
export function checkCalled(owner: string, option: string, value: unknown): void {
  const call = CALLS.get(value)
  if (call === undefined) return
  const factory = call.slice(0, call.indexOf('('))
  throw new TypeError(`${owner}: ${option} is the function ${factory}, which was not called. Write ${call}.`)
}
