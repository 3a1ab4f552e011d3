import type { TestCase } from '../../testing/test-case.js'
import { timeout } from '../../util/timeout.js'

/** The outcome of one test. */
export interface CaseResult {
  readonly name: string
  /** What the test rejected with. Absent if it passed. */
  readonly error?: unknown
}

/** Runs tests, at most `parallel` at once, and returns their results in order. */
export async function runCases(
  cases: readonly TestCase[],
  { parallel, timeoutMs }: { readonly parallel: number; readonly timeoutMs: number },
  onDone: () => void,
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  const inTime = timeout(timeoutMs)
  const waiting = cases.entries()
  async function runWaiting(): Promise<void> {
    for (const [i, { name, run }] of waiting) {
      try {
        await inTime(run())
        results[i] = { name }
      } catch (error) {
        results[i] = { name, error }
      }
      onDone()
    }
  }
  await Promise.all(Array.from({ length: parallel }, runWaiting))
  return results
}
