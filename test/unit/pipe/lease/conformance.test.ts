import { leased, memoryStore, type Store } from 'headgate'
import { customStore } from 'headgate/store'
import { manualClock } from 'headgate/testing'
import { describeStoreConformance } from '../../../support/store-conformance.js'

/** Limits below 320,000 are not leased: all operations go to the inner store. */
describeStoreConformance('a leased store whose limits are too small', {
  makeStore() {
    const clock = manualClock()
    const memory = memoryStore({ clock })
    const inner: Store = customStore({
      name: 'remote',
      batching: { maxKeys: 50, maxInFlight: 2 },
      apply: async (operations) => memory.apply(operations),
    })
    return { store: leased(inner, { processes: 10_000 }), advance: (ms) => void clock.advance(ms) }
  },
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
})
