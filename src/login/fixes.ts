import type { Fixes } from '../options/fixes.js'
import { FOREIGN_OPTIONS } from '../options/foreign-options.js'

const LIMITS = 'Write limits: { account: slidingWindow({ limit, window }) }.'
const FAILURES =
  'Leave it out: a guard counts failed logins. Write succeeded, which says which responses are successes.'
const NO_FIGURES = 'Leave it out: a guard sends no headers that say how many attempts are left.'

/**
 * What to write in place of options that `loginGuard` does not have. None writes a rule by the status alone:
 * the answer to a failed login may be a redirect.
 */
export const FIXES: Fixes = {
  ...FOREIGN_OPTIONS,
  limit: LIMITS,
  window: LIMITS,
  timeWindow: LIMITS,
  ttl: LIMITS,
  duration: LIMITS,
  policy: 'Write limits: { account: policy }.',
  key: "Write account: (req) => req.body?.username for the account, or field: 'username'.",
  username: "Write field: 'username'.",
  trustProxy: 'Write address: byIp({ trustProxy: 1 }).',
  ipv6Subnet: 'Write address: byIp({ ipv6Prefix: 56 }).',
  count: FAILURES,
  skipFailedRequests: FAILURES,
  skipSuccessfulRequests: FAILURES,
  requestWasSuccessful: FAILURES,
  headers: NO_FIGURES,
  resetFormat: NO_FIGURES,
  standardHeaders: NO_FIGURES,
  legacyHeaders: NO_FIGURES,
  denyCache: 'Leave it out: a guard counts denials, and never answers them from a cache.',
}
