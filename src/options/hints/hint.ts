import { durationMs, durationText } from '../../util/durations.js'

/** The options as they were given. */
export type Given = Readonly<Record<string, unknown>>

/** What to do in place of an option that the factory does not have. */
export interface Hint {
  /** The options to write, each with its source text, or `SAME`. Empty where the note says it all. */
  readonly write: Readonly<Record<string, string>>
  /** Follows the options in their sentence; without options, the whole sentence. */
  readonly note: string
}

/** Finds the hint for an option that the factory does not have; `undefined` where there is none. */
export type FindHint = (option: string, given: Given) => Hint | undefined

/** Stands for the value that was given, which goes into the other option as it is. */
export const SAME = '…'

/** Returns a hint that names the options to write, with the source text of each. */
export function write(options: Hint['write'], note = ' instead'): Hint {
  return { write: options, note }
}

/** Returns a hint for an option that takes the same value under another name. */
export function rename(name: string, note?: string): Hint {
  return write({ [name]: SAME }, note)
}

/** Returns a hint that explains why an option has no equivalent. */
export function explain(reason: string): Hint {
  return advise(`There is no equivalent, because ${reason}.`)
}

/** Returns a hint that says in one sentence what to do. */
export function advise(sentence: string): Hint {
  return { write: {}, note: sentence }
}

/** Returns the sentence of a hint. */
export function textOf(hint: Hint): string {
  const options = optionsText(hint)
  return options === '' ? hint.note : `Write ${options}${hint.note}.`
}

/** Returns the options of a hint as code; only the name of one that takes the same value. */
export function optionsText({ write }: Hint): string {
  return listed(
    Object.entries(write).map(([name, source]) => (source === SAME ? name : `${name}: ${source}`)),
  )
}

/** Joins words as a sentence does: `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** Returns the number given, be it as a string of digits; `NaN` for anything else. */
export function toNumber(value: unknown): number {
  if (typeof value === 'string' && /^\d+$/.test(value)) return Number(value)
  return typeof value === 'number' ? value : Number.NaN
}

/**
 * Returns the source text of a length of time, such as `'15m'`, where numbers count units of `unitMs`;
 * `undefined` for what is none. It is spelt anew, so that no text of the user's gets into a message.
 */
export function lengthText(value: unknown, unitMs: number): string | undefined {
  const number = toNumber(value)
  try {
    return `'${durationText(durationMs('', '', Number.isNaN(number) ? value : number * unitMs))}'`
  } catch {
    return undefined
  }
}
