import { documentsInParts } from '../builders/documents-in-parts.js'
import type { Documents } from '../documents.js'
import type { DenoKv, KvKey } from './client.js'
import { kvError } from './errors.js'

/** A value has at most 64 KiB. */
const PART_LENGTH = 10_000

/** Keeps each document as texts that never expire. */
export function kvDocuments(kv: DenoKv, kvKey: (key: string) => KvKey): Documents {
  /** Commits a change of a key. If Deno sends it twice, the check of the second fails. */
  async function swap(key: string, text: string, versionstamp: string | null | undefined): Promise<boolean> {
    const atomic = kv.atomic()
    if (versionstamp !== undefined) atomic.check({ key: kvKey(key), versionstamp })
    atomic.set(kvKey(key), text)
    return (await atomic.commit()).ok || (await kv.get(kvKey(key))).value === text
  }

  const { read, replace } = documentsInParts<string>({
    name: 'deno-kv',
    partLength: PART_LENGTH,
    async read(key) {
      const { value, versionstamp: version } = await kv.get(kvKey(key))
      if (version === null) return undefined
      return typeof value === 'string' ? { text: value, version } : { version }
    },
    swap: (key, text, version) => swap(key, text, version ?? null),
    write: (key, text) => swap(key, text, undefined),
    remove: (key) => kv.atomic().delete(kvKey(key)).commit(),
  })

  const orStoreError = (error: unknown) => {
    throw kvError(error)
  }
  return {
    read: (requests) => read(requests).catch(orStoreError),
    replace: (key, text, version) => replace(key, text, version).catch(orStoreError),
  }
}
