// Has Vitest run the conformance suite.

import { memoryStore } from 'headgate'
import { manualClock, storeConformance } from 'headgate/testing'
import { test } from 'vitest'

const cases = storeConformance({
  makeStore() {
    const clock = manualClock()
    return { store: memoryStore({ clock }), advance: (ms) => void clock.advance(ms) }
  },
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
})
for (const { name, run } of cases) test(name, run, 30_000)
