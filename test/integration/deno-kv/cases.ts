import { denoKvStore } from 'headgate/deno-kv'
import { manualClock, storeConformance, type TestCase } from 'headgate/testing'
import { failures } from './failures.js'
import { openKv } from './open.js'

const contract = storeConformance({
  async makeStore() {
    const clock = manualClock()
    const kv = await openKv()
    return {
      store: denoKvStore(kv, { clock }),
      advance: (ms) => void clock.advance(ms),
      close: () => kv.close(),
    }
  },
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
})

/** The tests of the store contract, and of the store's own rules. */
export const cases: readonly TestCase[] = [...contract, ...failures]
