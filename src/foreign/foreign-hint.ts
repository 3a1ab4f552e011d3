import { FOREIGN_OPTIONS } from './foreign-options.js'
import { type FindHint, type Given, type Hint, none, optionsText, type Reading } from './hint.js'

/** The hint for an option of another package; `undefined` where it is of none, or means the same here. */
export function foreignHint(option: string, given: Given): Hint | undefined {
  if (!Object.hasOwn(FOREIGN_OPTIONS, option)) return undefined
  const entry = FOREIGN_OPTIONS[option]
  return typeof entry === 'string' ? none(entry) : entry?.(given[option], given)
}

/** Finds hints where only `known` options are read: what belongs to `elsewhere` is said to. */
export function foreignHintWithin(known: readonly string[], elsewhere: string): FindHint {
  return (option, given) => {
    const hint = foreignHint(option, given)
    const isForeign = Object.hasOwn(FOREIGN_OPTIONS, option)
    if (hint === undefined) {
      if (!isForeign || known.includes(option)) return undefined
      return { readings: [], note: `It goes into ${elsewhere}.` }
    }
    const fits = ({ write }: Reading) => Object.keys(write).every((name) => known.includes(name))
    if (hint.readings.every(fits)) return hint
    return {
      readings: [],
      note: `It goes into ${elsewhere}, as ${hint.readings.map(optionsText).join(' or ')}.`,
    }
  }
}
