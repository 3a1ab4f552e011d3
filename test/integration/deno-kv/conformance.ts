/** Runs the tests of the store contract, and of the store's own rules, in Deno, and sends their results. */
import { denoKvStore } from 'headgate/deno-kv'
import { manualClock, storeConformance } from 'headgate/testing'
import { runCases } from '../../support/run-cases.js'
import { failures } from './failures.js'
import { openKv } from './open.js'

const cases = storeConformance({
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
process.send?.(await runCases([...cases, ...failures]))
process.disconnect()
