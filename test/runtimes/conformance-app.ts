import { type ConformanceSetup, storeConformance } from 'headgate/testing'
import { sampleOf } from '../support/store-conformance.js'

/** What an application of `conformanceApp` responds with. */
export interface Conformance {
  readonly passed: number
  readonly failed: readonly { readonly name: string; readonly error: string }[]
}

/**
 * Returns an application that runs the tests of the store contract in its runtime, one after the other, at each
 * request: a sample of them at `/sample`, otherwise all.
 */
export function conformanceApp(setup: ConformanceSetup) {
  return {
    async fetch({ url }: Request): Promise<Response> {
      const cases = storeConformance(setup)
      const failed: Conformance['failed'][number][] = []
      const chosen = url.endsWith('/sample') ? sampleOf(cases) : cases
      for (const { name, run } of chosen) {
        try {
          await run()
        } catch (error) {
          failed.push({ name, error: error instanceof Error ? `${error.stack}` : String(error) })
        }
      }
      const conformance: Conformance = { passed: chosen.length - failed.length, failed }
      return Response.json(conformance)
    },
  }
}
