// Has node:test run the conformance suite.
import { test } from 'node:test'
import { memoryStore } from 'headgate'
import { manualClock, storeConformance } from 'headgate/testing'

const cases = storeConformance({
  makeStore() {
    const clock = manualClock()
    return { store: memoryStore({ clock }), advance: (ms) => void clock.advance(ms) }
  },
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
})
for (const { name, run } of cases) test(name, run)
