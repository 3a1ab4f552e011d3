import { memoryStore, type Store, StoreError } from 'headgate'
import { customStore } from 'headgate/store'
import { serveStore } from 'headgate/testing'
import { fileStore, type Locking } from './file-store.js'

const [kind = '', folder = '', locking = ''] = process.argv.slice(2)

/** What may be wrong with a store, or with the process that serves it. */
const STORES: Readonly<Record<string, () => Store>> = {
  file: () => fileStore(folder, locking as Locking),
  alone: () => memoryStore(),
  unclosable: () => fileStore(folder, 'sorted'),
  failing: () =>
    customStore({
      ...memoryStore(),
      apply: () => Promise.reject(new StoreError('made', 'connection refused')),
    }),
  hanging: () => customStore({ ...memoryStore(), apply: () => new Promise(() => {}) }),
  doubling: () => {
    const store = fileStore(folder, 'sorted')
    return customStore({
      ...store,
      apply: async (operations) => {
        const isCharged = operations.every(({ type }) => type === 'charge')
        if (isCharged) await store.apply(operations)
        return store.apply(operations)
      },
    })
  },
  malformed: () => customStore({ ...memoryStore(), apply: () => [] }),
  crashing: () =>
    customStore({
      ...memoryStore(),
      apply: () => {
        setImmediate(() => {
          throw new Error('a crash of the driver')
        })
        return new Promise(() => {})
      },
    }),
  exiting: () => customStore({ ...memoryStore(), apply: () => process.exit(3) }),
}

if (kind === 'unstartable') throw new Error('there is no database')
if (kind === 'silent') setInterval(() => {}, 1000)
else {
  await serveStore(STORES[kind]?.() as Store)
  if (kind === 'alone') setInterval(() => {}, 1000) // what it opened keeps it running
  if (kind === 'unclosable') throw new Error('the connection is closed already')
}
