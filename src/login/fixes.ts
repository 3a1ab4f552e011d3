import type { Fixes } from '../options/fixes.js'

const KEY = "Write account: (req) => req.body?.username for the account, or field: 'username'."
const LIMITS = 'Write limits: { account: slidingWindow({ limit, window }) }.'
const FAILURES =
  'Leave it out: a guard counts failed logins. Use succeeded to say which responses are successes.'
const NO_FIGURES = 'Leave it out: a guard sends no headers that say how many attempts are left.'

/**
 * What to write in place of options of `rateLimit` and express-rate-limit. None writes a rule by the status
 * alone: the response to a failed login may be a redirect.
 */
export const FIXES: Fixes = {
  key: KEY,
  keyGenerator: KEY,
  username: "Write field: 'username'.",
  limit: LIMITS,
  max: LIMITS,
  window: LIMITS,
  windowMs: LIMITS,
  policy: 'Write limits: { account: policy }.',
  trustProxy: 'Write address: byIp({ trustProxy: 1 }).',
  count: FAILURES,
  skipSuccessfulRequests: FAILURES,
  headers: NO_FIGURES,
  standardHeaders: NO_FIGURES,
  legacyHeaders: NO_FIGURES,
  settings: "Leave it out: a guard's limits and its lock depend on each other.",
  lease: 'Leave it out: a guard charges several limits together, which cannot be leased.',
  accountInEvents:
    'Leave it out: events name the account by guard.accountId(req). Read the name from the second argument.',
  handler: 'onDenied',
  retryAfter:
    "Leave it out: Retry-After is the window of the account's limit. Set a different time in onDenied.",
}
