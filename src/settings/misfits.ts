import { MAX_PROBLEMS } from './read-document.js'

/** A part of a document that does not fit a limiter, such as a limit above the maximum of its policy. */
export interface Misfit {
  /** The problem, with its place. */
  readonly problem: string
  /** The same text for the same problem in another document, wherever its override stands. */
  readonly id: string
}

/** The place of an override in a document, and its target, which stays the same wherever it stands. */
export interface Place {
  readonly path: string
  target(): string
}

/**
 * Returns what `make` returns. If it throws a `TypeError`, adds that to `misfits` and returns `undefined`.
 */
export function collectMisfit<T>(misfits: Misfit[], make: () => T, place?: Place): T | undefined {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const { message: problem } = error
    misfits.push({ problem, id: place ? problem.replace(place.path, place.target) : problem })
    return undefined
  }
}

/** Returns the error about parts of a document that a limiter skips. */
export function skippedError(limiter: string, problems: readonly string[]): TypeError {
  const [first = ''] = problems
  if (problems.length === 1)
    return new TypeError(`${first} The limiter ${limiter} skips it and applies the rest of the document.`)
  const lines = problems.slice(0, MAX_PROBLEMS).map((problem) => problem.replace(/^settings: /, ''))
  if (problems.length > MAX_PROBLEMS) lines.push(`${problems.length - MAX_PROBLEMS} more`)
  const head = `settings: the limiter ${limiter} skips ${problems.length} parts of its document and applies the rest:`
  return new TypeError([head, ...lines].join('\n- '))
}

/** Returns the error about names in a document that no limit of a limiter has. */
export function unknownLimits(limiter: string, names: readonly string[], own: readonly string[]): TypeError {
  const others = names.length > MAX_PROBLEMS ? ` and ${names.length - MAX_PROBLEMS} more` : ''
  const listed = names.slice(0, MAX_PROBLEMS).join(', ') + others
  const problem = `the document names limits that the limiter ${limiter} does not have: ${listed}`
  return new TypeError(`settings: ${problem}. Its limits are: ${own.join(', ')}.`)
}
