// The tests of a store of the project's own, run by node:test.
import { fork } from 'node:child_process'
import test from 'node:test'
import { memoryStore, rateLimit, type Store } from 'headgate/http'
import {
  type Capabilities,
  manualClock,
  serveStore,
  storeConformance,
  storeExactness,
} from 'headgate/testing'

const capabilities: Capabilities = { settableClock: true, anyKey: true, atomicAcrossKeys: true }

function makeStore() {
  const clock = manualClock()
  const store: Store = memoryStore({ clock })
  return { store, advance: (ms: number) => void clock.advance(ms) }
}

for (const { name, run } of storeConformance({ makeStore, capabilities })) test(name, run)
for (const { name, run } of storeExactness({ startProcess: () => fork('store.js'), capabilities }))
  test(name, run)

export const served: Promise<void> = serveStore(makeStore().store)
export const limiter = rateLimit({ limit: 2, window: '1h', store: memoryStore({ clock: manualClock(0) }) })

export const mistakes = [
  // @ts-expect-error: every capability has to be stated
  () => storeConformance({ makeStore, capabilities: { settableClock: true } }),
]
