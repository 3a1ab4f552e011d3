import type { CaseResults } from '../support/run-cases.js'
import type { Extent } from '../support/store-conformance.js'
import type { RuntimeName, StartOptions } from './runtimes.js'
import { startIn } from './start-in.js'

/** The least tests that there are, so that a suite which lost some is noticed. */
const LEAST = { all: 390, sample: 80 } satisfies Record<Extent, number>

/** Runs the tests of the store contract inside a runtime, in an application made by `conformanceApp`. */
export async function expectConformance(
  name: RuntimeName,
  app: string,
  extent: Extent,
  options?: StartOptions,
): Promise<void> {
  const running = await startIn(name, app, options)
  try {
    const response = await fetch(`${running.url}/${extent}`)
    const { passed, failed } = (await response.json()) as CaseResults
    expect(failed).toEqual([])
    expect(passed).toBeGreaterThan(LEAST[extent])
  } finally {
    await running.close()
  }
}
