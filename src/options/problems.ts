/** The individual problems of an error that reports several. */
const problemsOf = new WeakMap<TypeError, readonly string[]>()

/**
 * Returns whether `run` succeeded. Adds a `TypeError` that it throws to `problems`; throws any other error
 * on.
 */
export function collectTypeError(problems: TypeError[], run: () => void): boolean {
  try {
    run()
    return true
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    problems.push(error)
    return false
  }
}

/**
 * Throws a single problem as it was thrown, several as one `TypeError` with a line for each. `owner` is the
 * function whose options were read.
 */
export function throwProblems(owner: string, problems: readonly TypeError[]): void {
  const [first] = problems
  if (first === undefined) return
  if (problems.length === 1 && !problemsOf.has(first)) throw first
  const messages = problems.flatMap((problem) => problemsOf.get(problem) ?? [problem.message])
  const head = `${owner}: `
  const lines = messages.map((line) => `- ${line.startsWith(head) ? line.slice(head.length) : line}`)
  const error = new TypeError(`${head}${messages.length} options are wrong:\n${lines.join('\n')}`)
  problemsOf.set(error, messages)
  throw error
}

/** Returns the results of all `reads`. Throws one `TypeError` for all that is wrong in any of them. */
export function readTogether<T extends readonly unknown[]>(
  owner: string,
  ...reads: { readonly [K in keyof T]: () => T[K] }
): T {
  const problems: TypeError[] = []
  const values: unknown[] = []
  for (const read of reads) collectTypeError(problems, () => values.push(read()))
  throwProblems(owner, problems)
  return values as unknown as T
}
