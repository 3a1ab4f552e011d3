/** The options as they were given. */
export type Given = Readonly<Record<string, unknown>>

/**
 * One reading of what was meant: options to write, with the source text of each, or `SAME` for the value
 * that was given.
 */
export interface Reading {
  readonly write: Readonly<Record<string, string>>
  /** In which case this reading is right, where there are several. */
  readonly when?: string
}

/** What to do in place of an option that there is not, or whose value is of another package. */
export interface Hint {
  /** Empty where nothing is to be written. */
  readonly readings: readonly Reading[]
  /** What follows the readings in the sentence, or the whole of it where there is no reading. */
  readonly note?: string
  /** An alternative, for factories that know the options of its text. */
  readonly offer?: { readonly needs: readonly string[]; readonly text: string }
  /** Own options beside it that the hint replaces, and that are not checked then. */
  readonly covers?: readonly string[]
  /** Whether a hint without readings says what to do, and not only that there is no equivalent. */
  readonly isAdvice?: boolean
}

/** Stands for the value that was given, which goes into the other option as it is. */
export const SAME = '…'

/** Finds the hint for an option; `undefined` where its name and value are of no other package. */
export type FindHint = (option: string, given: Given) => Hint | undefined

/** A hint with one reading. */
export function write(options: Reading['write'], note?: string): Hint {
  return { readings: [{ write: options }], ...(note && { note }) }
}

/** A hint for an option without an equivalent; `reason` completes "There is no equivalent, because". */
export function none(reason: string): Hint {
  return { readings: [], note: `There is no equivalent, because ${reason}.` }
}

/** A hint that says in a sentence what to do. */
export function advise(sentence: string, covers: readonly string[] = []): Hint {
  return { readings: [], note: sentence, covers, isAdvice: true }
}

/** The text of a hint, at most two sentences. */
export function textOf({ readings, note = '', offer, covers = [] }: Hint): string {
  if (readings.length === 0) return note
  const texts = readings.map((reading) => optionsText(reading) + (reading.when ? ` ${reading.when}` : ''))
  const without = covers.length > 0 ? `${readings.length > 1 ? ', each' : ''} without ${listed(covers)}` : ''
  const rest = `${without}${note}${offer?.text ?? ''}`
  const isWhole = rest === '' && readings.length === 1 && readings[0]?.when === undefined
  return `Write ${texts.join(', or ')}${isWhole ? ' instead' : rest}.`
}

/** The options of a reading as they are written in code; of a value that stays the same only the name. */
export function optionsText({ write }: Reading): string {
  return listed(
    Object.entries(write).map(([name, source]) => (source === SAME ? name : `${name}: ${source}`)),
  )
}

/** Joins words as a sentence does: `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
