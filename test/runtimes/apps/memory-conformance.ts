import { memoryStore } from 'headgate/fetch'
import { manualClock } from 'headgate/testing'
import { conformanceApp } from '../conformance-app.js'

export default conformanceApp({
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
  makeStore() {
    const clock = manualClock()
    return { store: memoryStore({ clock }), advance: (ms) => void clock.advance(ms) }
  },
})
