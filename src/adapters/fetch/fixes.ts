import { type FrameworkFixes, fixesIn, type Handlers } from '../../http/framework-fixes.js'

/** What to write in place of options of hono-rate-limiter, from which applications for the Fetch standard migrate. */
const FIXES = {
  windowMs: 'window',
  keyGenerator: 'key',
  handler: 'onDenied',
  standardHeaders: 'headers',
  skipFailedRequests: "Write count: 'successful'.",
  skipSuccessfulRequests: "Write count: 'failed'.",
  requestWasSuccessful: 'count',
}

/** Returns the fixes of a framework for the Fetch standard. */
/* @__NO_SIDE_EFFECTS__ */
export function fetchFixes(handlers: Handlers): FrameworkFixes {
  return { general: FIXES, own: fixesIn(handlers) }
}
