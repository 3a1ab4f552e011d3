import { memoryStore, type Store } from 'headgate'
import { customStore } from 'headgate/store'
import { nextTurn } from './next-turn.js'

/**
 * A correct store that can be down: then each charge fails, or stays without an answer until the store is
 * back.
 */
export interface FailingStore extends Store {
  mode: 'up' | 'failing' | 'hanging'
  /** Lets the store answer again, and the charges that hang as well. */
  recover(): Promise<void>
}

/** Returns one process's connection to `server`, which other processes may share. */
export function failingStore(server: Store = memoryStore()): FailingStore {
  const hanging: (() => void)[] = []
  const store: FailingStore = customStore({
    ...server,
    name: 'failing',
    mode: 'up',
    async apply(operations) {
      const isCharge = operations.some(({ type }) => type === 'charge')
      if (isCharge && store.mode === 'failing') throw new Error('connection lost')
      if (isCharge && store.mode === 'hanging') await new Promise<void>((resolve) => hanging.push(resolve))
      return server.apply(operations)
    },
    async recover() {
      store.mode = 'up'
      for (const resolve of hanging.splice(0)) resolve()
      await nextTurn()
    },
  })
  return store
}
