/** The single problems of an error that reports several. */
const problemsOf = new WeakMap<TypeError, readonly string[]>()

/** Collects what is wrong with options, so that one error reports all of it. */
export interface Problems {
  /** Returns whether `run` succeeded. Collects a `TypeError` that it throws; throws any other error on. */
  attempt(run: () => void): boolean
  /** Adds a problem that was found already. */
  add(problem: TypeError): void
  /** Throws a single problem as it was thrown, several as one `TypeError` with a line for each. */
  throwCollected(): void
}

/** Creates an empty collection; `owner` is the function whose options are read. */
export function collectProblems(owner: string): Problems {
  const errors: TypeError[] = []
  return {
    attempt(run) {
      try {
        run()
        return true
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        errors.push(error)
        return false
      }
    },
    add: (problem) => errors.push(problem),
    throwCollected() {
      const [first] = errors
      if (first !== undefined)
        throw errors.length > 1 || problemsOf.has(first) ? joinErrors(owner, errors) : first
    },
  }
}

/** Returns what all `reads` return. Throws one `TypeError` for everything that is wrong in any of them. */
export function readTogether<T extends readonly unknown[]>(
  owner: string,
  ...reads: { readonly [K in keyof T]: () => T[K] }
): T {
  const problems = collectProblems(owner)
  const values: unknown[] = []
  for (const read of reads) problems.attempt(() => values.push(read()))
  problems.throwCollected()
  return values as unknown as T
}

function joinErrors(owner: string, errors: readonly TypeError[]): TypeError {
  const problems = errors.flatMap((error) => problemsOf.get(error) ?? [error.message])
  const head = `${owner}: `
  const lines = problems.map((line) => `- ${line.startsWith(head) ? line.slice(head.length) : line}`)
  const error = new TypeError(`${head}${problems.length} options are wrong:\n${lines.join('\n')}`)
  problemsOf.set(error, problems)
  return error
}
