import { foreignHintWithin } from './foreign-hint.js'
import { type Given, type Hint, write } from './hint.js'
import { policyHint, TIME_WORDS, unitsText, windowLengths } from './quota.js'

const hintWithin = foreignHintWithin(['name', 'policy', 'key', 'cost'], 'rateLimit')

/**
 * Finds hints for one of several limits, which takes a policy only: `limit` and `window` make a token
 * bucket.
 */
export function entryHint(option: string, given: Given): Hint | undefined {
  if (option !== 'limit' && option !== 'window') return hintWithin(option, given)
  if (TIME_WORDS.some((word) => word !== 'window' && given[word] !== undefined)) return policyHint(given)
  const [every] = windowLengths(given)
  const units = unitsText(given)
  return write({ policy: `tokenBucket({ capacity: ${units}, refill: ${units}, every: ${every?.text} })` })
}
