import { randomUUID } from 'node:crypto'
import { fixedWindow } from '../../policies/fixed-window.js'
import type { Operation } from '../../stores/operation.js'
import type { Store } from '../../stores/store.js'
import type { ConformanceSetup } from '../../testing/conformance/store-under-test.js'
import { pause } from '../../util/defer.js'
import type { TestStoreSettings } from './arguments.js'
import { SCOPE, scopedStore } from './scoped-store.js'

/** The use that the tests made of the user's service. */
export interface Usage {
  operations: number
  /** Empty documents that are left, because a store cannot remove documents. */
  readonly documentKeys: string[]
}

const PEEK: Operation = {
  type: 'charge',
  parts: [{ key: 'clock', policy: fixedWindow({ limit: 1, window: '1d' }), cost: 0 }],
}

/** Returns the setup for tests that share a service. Each gets a store with its own keys. */
export function conformanceSetup(
  store: Store,
  { anyKey, atomicAcrossKeys }: TestStoreSettings,
  usage: Usage,
): ConformanceSetup {
  return {
    capabilities: { settableClock: false, anyKey, atomicAcrossKeys },
    makeStore() {
      const scoped = scopedStore(store, `${SCOPE}${randomUUID().slice(0, 8)}:`)
      return {
        store: scoped.store,
        async advance(ms) {
          const untilMs = (await timeOf(scoped.store)) + ms
          let leftMs = ms
          while (leftMs > 0) {
            await pause(leftMs)
            leftMs = untilMs - (await timeOf(scoped.store))
          }
        },
        async close() {
          usage.documentKeys.push(...(await scoped.clean()))
          usage.operations += scoped.operations()
        },
      }
    },
  }
}

/** Returns the time of a store's clock. */
async function timeOf(store: Store): Promise<number> {
  const [outcome] = await store.apply([PEEK])
  if (outcome instanceof Error) throw outcome
  if (outcome?.type !== 'charge') throw new TypeError('apply returned no result of a charge')
  return outcome.atMs
}
