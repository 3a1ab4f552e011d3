/** One test, for any runner: `for (const { name, run } of cases) test(name, run)`. */
export interface TestCase {
  /** A sentence that is unique among the cases of one call. */
  readonly name: string
  /** Resolves when the test passes. Rejects with an `AssertionError`, or with what the store threw. */
  readonly run: () => Promise<void>
}
