import { manualClock } from 'headgate/testing'
import { describeStoreConformance, type Extent } from '../../support/store-conformance.js'
import { type AnyClient, prefixed } from './clients.js'
import { newKey, type Tables } from './use-dynalite.js'

/**
 * Defines the tests of the store contract, whose stores use the clients in turn: in one table, with keys of
 * each store's own.
 */
export function describeConformance(
  name: string,
  { store }: Pick<Tables, 'store'>,
  clients: readonly (() => AnyClient)[],
  extent: Extent | 'small sample',
): void {
  let made = 0
  describeStoreConformance(
    name,
    {
      makeStore() {
        const clock = manualClock()
        const client = clients[made++ % clients.length] as () => AnyClient
        const tested = store(prefixed(client(), `${newKey()}:`), clock)
        return { store: tested, advance: (ms) => void clock.advance(ms) }
      },
      capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: false },
    },
    extent,
  )
}
