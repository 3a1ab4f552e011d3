import { foreignHintWithin } from './foreign-hint.js'
import { advise, type Given, type Hint } from './hint.js'
import { policyHint } from './policy-source.js'
import { noQuota, TIME_WORDS, unitsOf, windowLengths } from './quota.js'
import { placeholderNote } from './source.js'

const ENTRY_OPTIONS = ['name', 'policy', 'key', 'cost']
/** Options that a limiter has once for all of its limits. */
export const BESIDE_LIMITS: readonly string[] = [
  ...['store', 'prefix', 'secret', 'onStoreError', 'share', 'denyCache', 'lease', 'timeoutMs'],
  ...['skip', 'allow', 'block', 'count', 'headers', 'resetFormat', 'onLimited', 'statusCode', 'message'],
  'mode',
]

const hintWithin = foreignHintWithin(ENTRY_OPTIONS, (options) =>
  options === undefined ? 'Write it beside limits.' : `Write ${options} beside limits.`,
)

/**
 * Finds hints for one of several limits, which takes a policy only: `limit` and `window` make a token
 * bucket.
 */
export function entryHint(option: string, given: Given): Hint | undefined {
  if (option === 'limit' || option === 'window') return entryPolicy(given)
  return (
    hintWithin(option, given) ??
    (BESIDE_LIMITS.includes(option) ? advise('Write it beside limits.') : undefined)
  )
}

function entryPolicy(given: Given): Hint {
  const advice = noQuota(given)
  if (advice !== undefined) return advice
  if (TIME_WORDS.some((word) => word !== 'window' && given[word] !== undefined)) {
    const { readings, note } = policyHint(given)
    return { readings, ...(note !== undefined && { note }) }
  }
  const units = unitsOf(given)
  const windows = windowLengths(given)
  const readings = windows.map(({ text, when }) => ({
    write: { policy: `tokenBucket({ capacity: ${units.text}, refill: ${units.text}, every: ${text} })` },
    ...(when !== undefined && { when }),
  }))
  return { readings, note: placeholderNote([units, ...windows]) }
}
