/** Serves the store in a file to the tests of exactness. Argument: the file. */
import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from 'headgate/sqlite'
import { serveStore } from 'headgate/testing'

const [path = ''] = process.argv.slice(2)
const database = new DatabaseSync(path)
const store = sqliteStore(database)
await store.prepare()
await serveStore(store)
await store.close()
database.close()
