import { memoryStore, type Store, StoreError } from 'headgate'
import { serveStore } from 'headgate/testing'
import { fileStore, type Locking } from './file-store.js'

const [kind = '', folder = '', locking = ''] = process.argv.slice(2)

/** What may be wrong with a store, or with the process that serves it. */
const STORES: Readonly<Record<string, () => Store>> = {
  file: () => fileStore(folder, locking as Locking),
  alone: () => memoryStore(),
  unclosable: () => fileStore(folder, 'sorted'),
  failing: () => ({
    ...memoryStore(),
    charge: () => Promise.reject(new StoreError('made', 'connection refused')),
  }),
  hanging: () => ({ ...memoryStore(), charge: () => new Promise(() => {}) }),
  doubling: () => {
    const store = fileStore(folder, 'sorted')
    return { ...store, charge: async (charges) => (await store.charge(charges)) && store.charge(charges) }
  },
  malformed: () => ({ ...memoryStore(), charge: () => [] }),
  crashing: () => ({
    ...memoryStore(),
    charge: () => {
      setImmediate(() => {
        throw new Error('a crash of the driver')
      })
      return new Promise(() => {})
    },
  }),
  exiting: () => ({ ...memoryStore(), charge: () => process.exit(3) }),
}

if (kind === 'unstartable') throw new Error('there is no database')
if (kind === 'silent') setInterval(() => {}, 1000)
else {
  await serveStore(STORES[kind]?.() as Store)
  if (kind === 'alone') setInterval(() => {}, 1000) // what it opened keeps it running
  if (kind === 'unclosable') throw new Error('the connection is closed already')
}
