import { type ConformanceSetup, storeConformance } from 'headgate/testing'
import { runCases } from '../support/run-cases.js'
import { sampleOf } from '../support/store-conformance.js'

/**
 * Returns an application that runs the tests of the store contract in its runtime, one after the other, at each
 * request: a sample of them at `/sample`, otherwise all. It responds with `CaseResults`.
 */
export function conformanceApp(setup: ConformanceSetup) {
  return {
    async fetch({ url }: Request): Promise<Response> {
      const cases = storeConformance(setup)
      return Response.json(await runCases(url.endsWith('/sample') ? sampleOf(cases) : cases))
    },
  }
}
