import { readPublishedLimits } from '../../pipe/published-limits.js'
import { memoryStore } from '../../stores/memory/memory-store.js'
import type { Store } from '../../stores/store.js'
import { InputError } from '../failures.js'
import { connectStore } from '../keys/connection.js'
import { withoutCredentials } from '../keys/store-url.js'
import { loadStore } from '../load-store.js'
import type { StorePlace } from './arguments.js'

/** A store that holds settings, until it is closed. */
export interface OpenStore {
  readonly store: Store
  /** Returns a text without the credentials of the store. */
  shown(text: string): string
  readPublished(key: string): ReturnType<typeof readPublishedLimits>
  close(): Promise<void>
}

/** Opens the store of a command line. Rejects with an `InputError`. */
export async function openStore(
  place: StorePlace,
  keyPrefix: string,
  command = 'settings',
): Promise<OpenStore> {
  if ('address' in place) {
    const { store, close } = await connectStore(place.address, process.cwd())
    const shown = (text: string) => withoutCredentials(text, place.address)
    return { ...accessTo(store, keyPrefix), shown, close: async () => close() }
  }
  const store = await loadStore(command, place.module)
  return { ...accessTo(store, keyPrefix), shown: (text) => text, close: async () => store.close?.() }
}

function accessTo(given: Store, keyPrefix: string): Pick<OpenStore, 'store' | 'readPublished'> {
  const store = keyPrefix === '' ? given : withKeyPrefix(given, keyPrefix)
  return { store, readPublished: (key) => readPublishedLimits(store.documents, key) }
}

/** Returns a store whose documents have other keys, as a client with a `keyPrefix` sends them. */
function withKeyPrefix(store: Store, keyPrefix: string): Store {
  const { documents } = store
  if (documents === undefined) return store
  return {
    ...store,
    documents: {
      read: (requests) => documents.read(requests.map((each) => ({ ...each, key: keyPrefix + each.key }))),
      replace: (key, text, version) => documents.replace(keyPrefix + key, text, version),
    },
  }
}

/** Returns a store in memory that has a document of another one, on which a change can be tried. */
export async function copyInMemory({ documents, name }: Store, key: string): Promise<Store> {
  const copy = memoryStore()
  const [found] = (await documents?.read([{ key }])) ?? []
  if (found?.damage !== undefined)
    throw new InputError(`${name} holds ${found.damage} under the key ${key}, so a change cannot be tried`)
  if (found?.text !== undefined) await copy.documents?.replace(key, found.text, undefined)
  return copy
}
