import { type ExactnessSetup, storeExactness } from 'headgate/testing'
import { type Extent, sampleOf } from './store-conformance.js'

/**
 * Defines the tests of several processes that share a store: each sentence for one policy with the load of the
 * set-up, or all. All have four processes that charge 1,000 times each, so that a key with a limit of 1,000 has
 * 4,000 charges. `isChosen` leaves out tests by their names.
 */
export function describeStoreExactness(
  setup: ExactnessSetup,
  extent: Extent,
  isChosen: (name: string) => boolean = () => true,
): void {
  const { callers = 50 } = setup
  const all = { ...setup, processes: 4, callers, charges: 1000 / callers, timeout: '100s' } as const
  const cases = extent === 'all' ? storeExactness(all) : sampleOf(storeExactness(setup))
  describe('several processes that share the store are exact', () => {
    for (const { name, run } of cases) if (isChosen(name)) test(name, run)
  })
}
