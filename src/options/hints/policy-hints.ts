import { foreignHintWithin } from './foreign-hint.js'
import { advise, type FindHint, lengthText, rename, SAME, write } from './hint.js'

/** What a policy calls the number of units, and the time in which they may be taken. */
interface QuotaNames {
  readonly units: readonly string[]
  readonly time?: string
}

const quotaHint = foreignHintWithin(['limit', 'window'], 'into the options of the limiter')

/** Creates the hints for a policy: its own names for `limit` and `window`, and what goes into the limiter. */
export function policyHints({ units, time }: QuotaNames): FindHint {
  return (option, given) => {
    const isQuota = option === 'limit' || option === 'window'
    const hint = isQuota ? rename(option) : quotaHint(option, given)
    const { limit, window } = hint?.write ?? {}
    if (limit !== undefined) return write(Object.fromEntries(units.map((name) => [name, limit])))
    if (window === undefined) return hint
    if (time === undefined) return advise('Leave it out: consecutive has no window.')
    return write({ [time]: window })
  }
}

/** Finds hints for the options of a ban: the words of other packages for how long it lasts, in seconds. */
export const banHints: FindHint = (option, given) => {
  if (option !== 'blockDuration' && option !== 'duration') return undefined
  return write({ for: lengthText(given[option], 1000) ?? SAME })
}
