import { MAX_PROBLEMS } from './read-document.js'

/** A part of a document that does not fit a limiter, such as a limit above the maximum of its policy. */
export interface Misfit {
  /** Identifies the part in several documents, wherever its override stands. */
  readonly id: string
  readonly problem: string
  /** Whether the limiter applies it nevertheless. */
  readonly isApplied?: true
}

/** Where limits by name stand in a document. */
export interface Place {
  readonly path: string
  /** Returns a text that is the same wherever the override stands. */
  readonly id: () => string
}

export const LIMITS: Place = { path: 'limits', id: () => 'limits' }
export const CANDIDATE: Place = { path: 'candidate.limits', id: () => 'candidate' }

/** Runs `make`. Adds the `TypeError` that it throws to misfits, and returns `undefined`. */
export function fitting<T>(
  misfits: Misfit[],
  id: () => string,
  make: () => T,
  how: Pick<Misfit, 'isApplied'> = {},
): T | undefined {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    misfits.push({ id: id(), problem: error.message, ...how })
    return undefined
  }
}

/** Returns the errors about parts of a document that a limiter skips, and about the first doubtful one. */
export function misfitErrors(limiter: string, misfits: readonly Misfit[]): TypeError[] {
  const skipped = misfits.filter(({ isApplied }) => !isApplied)
  const doubtful = misfits.filter(({ isApplied }) => isApplied)
  return [
    ...(skipped.length > 0
      ? [
          skippedError(
            limiter,
            skipped.map(({ problem }) => problem),
          ),
        ]
      : []),
    ...doubtful
      .slice(0, 1)
      .map(({ problem }) => new TypeError(`${problem} Until then, the network applies.`)),
  ]
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
