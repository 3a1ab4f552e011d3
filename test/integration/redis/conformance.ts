import { setTimeout as pause } from 'node:timers/promises'
import type { ConformanceSetup } from 'headgate/testing'
import type { Redis } from 'ioredis'
import { until } from '../../support/servers/wait.js'
import { describeStoreConformance, type Extent } from '../../support/store-conformance.js'
import { connect, serverTimeMs } from './connect.js'
import { type Open, openedStore } from './drivers.js'

/** Defines the tests of the store contract for a client of some driver. */
export function describeConformance(name: string, url: () => string, open: Open, extent: Extent): void {
  describe('a client of its own', () => {
    const opened = openedStore(url, open)
    let watcher: Redis
    beforeAll(async () => {
      watcher = await connect(url())
    })
    afterAll(() => watcher?.disconnect())

    const setup: ConformanceSetup = {
      capabilities: { settableClock: false, anyKey: true, atomicAcrossKeys: true },
      async makeStore() {
        await watcher.flushdb()
        return {
          store: opened.makeStore(),
          async advance(ms) {
            const untilMs = (await serverTimeMs(watcher)) + ms
            await pause(ms)
            const hasAdvanced = async () => (await serverTimeMs(watcher)) >= untilMs
            await until("the server's clock has advanced", hasAdvanced, { everyMs: 1 })
          },
        }
      },
    }
    describeStoreConformance(name, setup, extent)
  })
}
