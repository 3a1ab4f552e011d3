// Has node:test run the conformance suite.
const { test } = require('node:test')
const { memoryStore } = require('headgate')
const { manualClock, storeConformance } = require('headgate/testing')

const cases = storeConformance({
  makeStore() {
    const clock = manualClock()
    return { store: memoryStore({ clock }), advance: (ms) => void clock.advance(ms) }
  },
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
})
for (const { name, run } of cases) test(name, run)
