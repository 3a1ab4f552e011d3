import { memoryStore, type Store } from 'headgate'
import {
  compareAndSwapStore,
  ownerStore,
  type State,
  serveOperations,
  transactionStore,
} from 'headgate/store'

type Clock = () => number

/** A store of the builder for conditional writes, over a map. */
export function swappingStore(clock: Clock): Store {
  const rows = new Map<string, { readonly state: State; readonly version: number }>()
  let versions = 0
  return compareAndSwapStore<number>({
    name: 'swapping',
    clock,
    read: (keys) => keys.map((key) => rows.get(key)),
    swap({ key, version, state }) {
      if (rows.get(key)?.version !== version) return false
      if (state === undefined) rows.delete(key)
      else rows.set(key, { state, version: ++versions })
      return true
    },
  })
}

/** A store of the builder for transactions, over a map. */
export function lockingStore(clock: Clock): Store {
  const rows = new Map<string, State>()
  return transactionStore<undefined>({
    name: 'locking',
    transaction: (run) => run(undefined),
    lockAndRead: (_transaction, keys) => ({
      states: new Map(keys.flatMap((key) => (rows.has(key) ? [[key, rows.get(key)]] : []))),
      nowMs: clock(),
    }),
    write(_transaction, writes) {
      for (const { key, state } of writes) {
        if (state === undefined) rows.delete(key)
        else rows.set(key, state)
      }
    },
    isTemporary: () => false,
  })
}

/** A store whose states are in the memory of an owner, which takes and returns JSON. */
export function ownedStore(clock: Clock): Store {
  const serve = serveOperations(memoryStore({ clock }))
  const copy = (value: unknown) => JSON.parse(JSON.stringify(value))
  return ownerStore({ name: 'owned', send: async (message) => copy(await serve(copy(message))) })
}
