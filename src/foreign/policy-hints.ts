import { foreignHintWithin } from './foreign-hint.js'
import type { FindHint } from './hint.js'
import { blockLengths, TIME_WORDS, UNIT_WORDS, unitsText, windowLengths } from './quota.js'

/** What a policy calls the number of units, and the time in which they may be taken. */
interface QuotaNames {
  readonly units: readonly string[]
  readonly time?: string
}

/**
 * Finds hints for a policy's options: words of other packages for its numbers, and what belongs to the
 * limiter.
 */
export function policyHints({ units, time }: QuotaNames): FindHint {
  const elsewhere = foreignHintWithin([], 'the options of the limiter')
  return (option, given) => {
    if (UNIT_WORDS.includes(option) && !units.includes(option)) {
      const text = unitsText({ [option]: given[option] })
      return { readings: [{ write: Object.fromEntries(units.map((name) => [name, text])) }] }
    }
    if (time !== undefined && TIME_WORDS.includes(option) && option !== time) {
      const readings = windowLengths(given).map(({ text, ...rest }) => ({ write: { [time]: text }, ...rest }))
      return { readings }
    }
    return units.includes(option) || option === time || option === 'name'
      ? undefined
      : elsewhere(option, given)
  }
}

/** Finds hints for the options of a ban. */
export const banHints: FindHint = (option, given) => {
  if (option !== 'blockDuration' && option !== 'duration') return undefined
  const readings = blockLengths({ ...given, blockDuration: given[option], duration: undefined })
  return { readings: readings.map(({ text, ...rest }) => ({ write: { for: text }, ...rest })) }
}
