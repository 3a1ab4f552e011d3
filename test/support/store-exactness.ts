import { type ExactnessSetup, storeExactness } from 'headgate/testing'
import { type Extent, sampleOf } from './store-conformance.js'

/** Defines the tests of several processes that share a store: all, or each sentence for one policy. */
export function describeStoreExactness(setup: ExactnessSetup, extent: Extent): void {
  const cases = storeExactness(setup)
  describe('several processes that share the store are exact', () => {
    for (const { name, run } of extent === 'all' ? cases : sampleOf(cases)) test(name, run)
  })
}
