import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sqliteStore } from 'headgate/sqlite'
import { manualClock, storeConformance } from 'headgate/testing'

const cases = storeConformance({
  async makeStore() {
    const clock = manualClock()
    const database = new DatabaseSync(':memory:')
    const store = sqliteStore(database, { clock })
    await store.prepare()
    return {
      store,
      advance: (ms) => void clock.advance(ms),
      async close() {
        await store.close()
        database.close()
      },
    }
  },
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
})
for (const { name, run } of cases) test(name, run)
