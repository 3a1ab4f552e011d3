import { customStore } from '../../pipe/custom-store.js'
import type { KeyedPolicy, Operation } from '../../stores/operation.js'
import type { Store } from '../../stores/store.js'

/** The beginning of all keys. */
export const SCOPE = 'hgtest:'

/** The longest key that every store takes. */
const MAX_KEY_BYTES = 250

/** A store whose keys are separate from all others in the same service. */
export interface ScopedStore {
  readonly store: Store
  /** How many operations were applied. */
  operations(): number
  /**
   * Forgets all keys, and empties all documents, which a store cannot remove. Returns the keys of the
   * documents.
   */
  clean(): Promise<readonly string[]>
}

/** Returns a store that applies operations to the keys of another one that begin with `prefix`. */
export function scopedStore(store: Store, prefix: string): ScopedStore {
  const used = new Map<string, KeyedPolicy>()
  const documentKeys = new Set<string>()
  let count = 0

  const scopedKey = (key: string) => {
    const isLong = key.length <= MAX_KEY_BYTES && prefix.length + key.length > MAX_KEY_BYTES
    return isLong ? prefix + key.slice(prefix.length) : prefix + key // the longest keys keep their length
  }
  function withScope<K extends KeyedPolicy>(keyed: K): K {
    const key = scopedKey(keyed.key)
    used.set(key, { key, policy: keyed.policy })
    return { ...keyed, key }
  }
  function scopedOperation(operation: Operation): Operation {
    count++
    if (operation.type !== 'charge') return withScope(operation)
    return { ...operation, parts: operation.parts.map(withScope) }
  }
  function documentKey(key: string): string {
    documentKeys.add(prefix + key)
    return prefix + key
  }

  const { documents, serverOf } = store
  return {
    store: customStore({
      name: store.name,
      apply: (operations, settle) => store.apply(operations.map(scopedOperation), settle),
      ...(store.batching && { batching: store.batching }),
      ...(serverOf && { serverOf: (key: string) => serverOf.call(store, scopedKey(key)) }),
      ...(documents && {
        documents: {
          read: (requests) => documents.read(requests.map((one) => ({ ...one, key: documentKey(one.key) }))),
          replace: (key, text, version) => documents.replace(documentKey(key), text, version),
        },
      }),
    }),
    operations: () => count,
    async clean() {
      const forgets = Array.from(used.values(), (keyed): Operation => ({ type: 'forget', ...keyed }))
      const size = store.batching?.maxKeys ?? 1
      for (let i = 0; i < forgets.length; i += size) await store.apply(forgets.slice(i, i + size))
      const emptied: string[] = []
      for (const key of documentKeys) {
        const [found] = (await documents?.read([{ key }])) ?? []
        if (found === undefined) continue
        await documents?.replace(key, '', found.version)
        emptied.push(key)
      }
      return emptied
    },
  }
}
