import { FOREIGN_OPTIONS } from './foreign-options.js'
import { advise, type FindHint, type Given, type Hint, optionsText, write } from './hint.js'

/** The options of `rateLimit` that stand beside its limits. */
export const BESIDE_LIMITS: readonly string[] = [
  ...['store', 'prefix', 'secret', 'onStoreError', 'share', 'denyCache', 'lease', 'timeoutMs'],
  ...['skip', 'allow', 'block', 'count', 'headers', 'resetFormat', 'onLimited', 'statusCode', 'message'],
  'mode',
]

/** Returns the hint for an option of another package, in the options of `rateLimit`. */
export function foreignHint(option: string, given: Given): Hint | undefined {
  if (!Object.hasOwn(FOREIGN_OPTIONS, option)) return undefined
  const entry = FOREIGN_OPTIONS[option]
  return typeof entry === 'function' ? entry(given[option], given) : entry
}

/**
 * Finds hints for a factory that has only the `known` options of `rateLimit`; the others go elsewhere, such
 * as `beside limits`.
 */
export function foreignHintWithin(known: readonly string[], elsewhere: string): FindHint {
  return (option, given) => {
    if (BESIDE_LIMITS.includes(option)) return advise(`It goes ${elsewhere}.`)
    const hint = foreignHint(option, given)
    if (hint === undefined || Object.keys(hint.write).every((name) => known.includes(name))) return hint
    return advise(`It goes ${elsewhere}, as ${optionsText(hint)}.`)
  }
}

const ENTRY_OPTIONS = ['name', 'policy', 'key', 'cost', 'limit', 'window']
const entryHintWithin = foreignHintWithin(ENTRY_OPTIONS, 'beside limits')

/** Finds hints for one of several limits, which takes a policy in place of `limit` and `window`. */
export function entryHint(option: string, given: Given): Hint | undefined {
  const hint = entryHintWithin(option, given)
  const names = [option, ...Object.keys(hint?.write ?? {})]
  const isQuota = names.some((name) => name === 'limit' || name === 'window')
  return isQuota ? write({ policy: 'slidingWindow({ limit, window })' }) : hint
}
