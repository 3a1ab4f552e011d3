import type { TestCase } from 'headgate/testing'

/** What came of tests that ran outside Jest. */
export interface CaseResults {
  readonly passed: number
  /** The name and the error of each that failed. */
  readonly failed: readonly string[]
}

/** Runs tests one after the other, in any runtime. */
export async function runCases(cases: readonly TestCase[]): Promise<CaseResults> {
  const failed: string[] = []
  for (const { name, run } of cases) {
    try {
      await run()
    } catch (error) {
      failed.push(`${name}: ${error instanceof Error ? error.stack : error}`)
    }
  }
  return { passed: cases.length - failed.length, failed }
}
