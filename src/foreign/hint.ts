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
  /** None where nothing is to be written. */
  readonly readings: readonly Reading[]
  /** What follows the readings in the sentence, or the whole of it where there is no reading. */
  readonly note?: string
}

/** Stands for the value that was given, which goes into the other option as it is. */
export const SAME = '…'

/** Finds the hint for an option; `undefined` where its name and value are of no other package. */
export type FindHint = (option: string, given: Given) => Hint | undefined

/** A hint with one reading. */
export function write(options: Reading['write'], note?: string): Hint {
  return { readings: [{ write: options }], ...(note !== undefined && { note }) }
}

/** A hint for an option without an equivalent; `reason` completes "There is no equivalent, because". */
export function none(reason: string): Hint {
  return { readings: [], note: `There is no equivalent, because ${reason}.` }
}

/** The text of a hint, at most two sentences. */
export function textOf({ readings, note = '' }: Hint): string {
  if (readings.length === 0) return note
  const texts = readings.map((reading) => optionsText(reading) + (reading.when ? ` ${reading.when}` : ''))
  const one = readings.length === 1 && note === ''
  return `Write ${texts.join(', or ')}${one ? ' instead' : note}.`
}

/** The options of a reading as they are written in code; of a value that stays the same only the name. */
export function optionsText({ write }: Reading): string {
  const parts = Object.entries(write).map(([name, source]) => (source === SAME ? name : `${name}: ${source}`))
  return parts.join(' and ')
}
