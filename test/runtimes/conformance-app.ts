import { type ConformanceSetup, storeConformance } from 'headgate/testing'

/** What an application of `conformanceApp` responds with. */
export interface Conformance {
  readonly passed: number
  readonly failed: readonly { readonly name: string; readonly error: string }[]
}

/** Returns an application that runs the tests of the store contract in its runtime, at each request. */
export function conformanceApp(setup: ConformanceSetup) {
  return {
    async fetch(): Promise<Response> {
      const cases = storeConformance(setup)
      const failed: Conformance['failed'][number][] = []
      for (const { name, run } of cases) {
        try {
          await run()
        } catch (error) {
          failed.push({ name, error: error instanceof Error ? `${error.stack}` : String(error) })
        }
      }
      const conformance: Conformance = { passed: cases.length - failed.length, failed }
      return Response.json(conformance)
    },
  }
}
