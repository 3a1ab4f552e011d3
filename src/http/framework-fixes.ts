import type { Fixes } from '../options/fixes.js'
import { foreignFixes } from '../options/foreign-options.js'

/** What to write in place of options that `rateLimit` of a framework does not have. */
export interface FrameworkFixes {
  /** Fixes that also apply to each of several limits. */
  readonly general: Fixes
  readonly own?: Fixes
}

/** How a framework calls its handlers, and where they find the decision: texts for error messages. */
export interface Handlers {
  readonly onDenied: string
  readonly count: string
  readonly decision: string
}

/** Returns the fixes of a framework of Node.js. */
/* @__NO_SIDE_EFFECTS__ */
export function nodeFixes(handlers: Handlers): FrameworkFixes {
  return { general: foreignFixes(), own: fixesIn(handlers) }
}

/** Returns the fixes that depend on the framework. */
/* @__NO_SIDE_EFFECTS__ */
export function fixesIn({ onDenied, count, decision }: Handlers): Fixes {
  const handler = `Write onDenied, which is called with ${onDenied}.`
  const requestPropertyName = `Leave it out: the decision is always at ${decision}.`
  const requestWasSuccessful = `Write count: ${count}, which says whether a response counts.`
  return { handler, requestWasSuccessful, requestPropertyName }
}
