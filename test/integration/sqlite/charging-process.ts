/** Charges a key again and again. Argument: the file. */

import { DatabaseSync } from 'node:sqlite'
import { consecutive } from 'headgate'
import { sqliteStore } from 'headgate/sqlite'
import { chargeForParent } from '../../support/charging-process.js'

const [path = ''] = process.argv.slice(2)
const store = sqliteStore(new DatabaseSync(path))
await store.prepare()
await chargeForParent(store, [{ key: 'key', policy: consecutive({ limit: 1_000_000 }), cost: 1 }], 1)
