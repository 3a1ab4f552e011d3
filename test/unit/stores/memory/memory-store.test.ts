import { memoryStore } from 'headgate'
import { describeStoreConformance } from '../../../support/store-conformance.js'

describeStoreConformance('memoryStore', {
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
  makeStore() {
    let nowMs = 1_790_000_000_000
    return {
      store: memoryStore({ clock: () => nowMs }),
      advance(ms) {
        nowMs += ms
      },
    }
  },
})
