/** Charges a key again and again, and tells its parent how often that was allowed. Argument: the file. */

import { DatabaseSync } from 'node:sqlite'
import { consecutive } from 'headgate'
import { sqliteStore } from 'headgate/sqlite'
import { chargeStore } from '../../support/store-calls.js'

const [path = ''] = process.argv.slice(2)
const store = sqliteStore(new DatabaseSync(path))
await store.prepare()
const charge = [{ key: 'key', policy: consecutive({ limit: 1_000_000 }), cost: 1 }]
for (let allowed = 1; allowed <= 1_000_000; allowed++) {
  await chargeStore(store, [charge])
  await report(allowed)
}

/**
 * Resolves once the count is in the IPC channel. Charges of this store never yield to the event loop, so
 * counts that find the channel full, while the parent is slow, would otherwise wait until the last charge.
 */
function report(allowed: number): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(allowed, undefined, undefined, (error) => (error ? reject(error) : resolve()))
  })
}
