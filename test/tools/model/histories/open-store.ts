import { leased, type Store } from 'headgate'
import { sqliteStore } from 'headgate/sqlite'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { openTarget, type Target } from '../../faults/target.js'
import { lockingStore, swappingStore } from './built-stores.js'
import { parentStore } from './owner.js'

/** The store that callers are to use, and where they find it. */
export type CallerTarget =
  | Target
  | { readonly kind: 'leased' | 'swapping'; readonly host: string; readonly port: number }
  | { readonly kind: 'locking'; readonly url: string }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'owned' }

/** Opens the store of a process of callers, which is one of `processes`. */
export async function openStore(target: CallerTarget, processes: number): Promise<Store> {
  switch (target.kind) {
    case 'leased':
      return leased(openTarget({ ...target, kind: 'redis' }).store, { processes })
    case 'swapping':
      return swappingStore(new Redis(target.port, target.host))
    case 'locking':
      return lockingStore(new Pool({ connectionString: target.url }))
    case 'sqlite':
      return openSqlite(target.path)
    case 'owned':
      return parentStore()
    default:
      return openTarget(target).store
  }
}

async function openSqlite(path: string): Promise<Store> {
  const { DatabaseSync } = await import('node:sqlite') // Node.js 20 has none
  const store = sqliteStore(new DatabaseSync(path))
  await store.prepare()
  return store
}
