import { FOREIGN_OPTIONS } from './foreign-options.js'
import { advise, type FindHint, type Given, type Hint, none, optionsText } from './hint.js'

/** The hint for an option of another package; `undefined` where it is of none, or means the same here. */
export function foreignHint(option: string, given: Given): Hint | undefined {
  if (!Object.hasOwn(FOREIGN_OPTIONS, option)) return undefined
  const entry = FOREIGN_OPTIONS[option]
  return typeof entry === 'string' ? none(entry) : entry?.(given[option], given)
}

/** Says where options of another factory go; `options` is their text where it is not what was given. */
export type Place = (options?: string) => string

/** Finds hints where only `known` options are read; of what belongs elsewhere `place` says where. */
export function foreignHintWithin(known: readonly string[], place: Place): FindHint {
  return (option, given) => {
    const hint = foreignHint(option, given)
    if (hint !== undefined) return hintWithin(hint, known, place)
    const isForeign = Object.hasOwn(FOREIGN_OPTIONS, option)
    return isForeign && !known.includes(option) ? advise(place()) : undefined
  }
}

/** A hint as far as `known` options can follow it. */
function hintWithin(hint: Hint, known: readonly string[], place: Place): Hint {
  const { offer, covers = [], ...rest } = hint
  const readings = hint.readings.filter(({ write }) =>
    Object.keys(write).every((name) => known.includes(name)),
  )
  if (readings.length === 0 && hint.readings.length > 0)
    return advise(place(hint.readings.map(optionsText).join(' or ')))
  const isOffered = offer?.needs.every((name) => known.includes(name))
  const ours = hint.isAdvice ? covers : covers.filter((name) => known.includes(name))
  return { ...rest, readings, covers: ours, ...(offer && isOffered && { offer }) }
}

/** Says that options go into `owner`. */
export function goesInto(owner: string): Place {
  return (options) => `It goes into ${owner}${options === undefined ? '' : `, as ${options}`}.`
}
