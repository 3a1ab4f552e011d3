import { foreignHintWithin, goesInto } from './foreign-hint.js'
import { advise, type FindHint, type Hint, write } from './hint.js'
import { blockLengths, noQuota, TIME_WORDS, UNIT_WORDS, windowLengths } from './quota.js'
import { placeholderNote, type Source, unitsSource } from './source.js'

/** What a policy calls the number of units, and the time in which they may be taken. */
interface QuotaNames {
  readonly units: readonly string[]
  readonly time?: string
}

const FIXED_NUMBERS =
  'The numbers of a policy are fixed: give the limiter a function as policy, which returns one.'

/**
 * Finds hints for a policy's options: words of other packages for its numbers, and what belongs to the
 * limiter.
 */
export function policyHints({ units, time }: QuotaNames): FindHint {
  const elsewhere = foreignHintWithin([], goesInto('the options of the limiter'))
  const own = [...units, ...(time === undefined ? [] : [time])]
  return (option, given) => {
    const isUnits = UNIT_WORDS.includes(option) || units.includes(option)
    const isTime = TIME_WORDS.includes(option) || option === time
    if (typeof given[option] === 'function' && (isUnits || isTime)) return advise(FIXED_NUMBERS, own)
    if (isUnits) {
      const advice = noQuota({ max: given[option] }, own)
      return advice ?? (units.includes(option) ? undefined : unitsHint(units, given[option]))
    }
    if (option === 'name') return undefined
    if (!isTime) return elsewhere(option, given)
    if (time === undefined) return advise('Leave it out: consecutive has no window.')
    return option === time ? undefined : lengthHint(time, windowLengths(given))
  }
}

function unitsHint(units: readonly string[], value: unknown): Hint {
  const source = unitsSource(value)
  return write(Object.fromEntries(units.map((name) => [name, source.text])), placeholderNote([source]))
}

function lengthHint(option: string, lengths: readonly Source[]): Hint {
  const readings = lengths.map(({ text, when }) => ({
    write: { [option]: text },
    ...(when !== undefined && { when }),
  }))
  return { readings, note: placeholderNote(lengths) }
}

/** Finds hints for the options of a ban. */
export const banHints: FindHint = (option, given) => {
  if (option !== 'blockDuration' && option !== 'duration') return undefined
  return lengthHint('for', blockLengths({ ...given, blockDuration: given[option], duration: undefined }))
}
