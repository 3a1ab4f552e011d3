import type { Documents, StoredDocument } from '../documents.js'
import { textVersion } from '../shared/text-version.js'
import type { MemcachedTransport } from './connection.js'
import { statusError } from './errors.js'
import { CHANGED, get, hasFlags, itemKey, STATUS, swap, valueIn } from './protocol.js'

/** The flags of documents, which distinguish them from states. */
const FLAGS = 0x68670002
/** The expiration of items that never expire. */
const NEVER = 0

/**
 * Keeps each document in an item that never expires. memcached may evict the item when its memory is full.
 * The document is then lost.
 */
export function memcachedDocuments(transport: MemcachedTransport): Documents {
  /** Returns what an item holds, and the CAS token for its next write. */
  async function readItem(item: string): Promise<{ stored: StoredDocument; cas: bigint } | undefined> {
    const request = get(item)
    const reply = await transport.request(item, request)
    if (reply.status === STATUS.notFound) return undefined
    if (reply.status !== STATUS.ok) throw statusError(request, reply)
    const text = valueIn(reply).toString()
    const held = hasFlags(reply, FLAGS) ? { text } : { damage: 'a value of another program' }
    return { stored: { ...held, version: textVersion(text) }, cas: reply.cas }
  }

  return {
    read: (requests) => Promise.all(requests.map(async ({ key }) => (await readItem(itemKey(key)))?.stored)),
    async replace(key, text, version) {
      const item = itemKey(key)
      const before = await readItem(item)
      if (before?.stored.version !== version) return false
      const request = swap(item, Buffer.from(text), NEVER, before?.cas, FLAGS)
      const reply = await transport.request(item, request)
      if (CHANGED.includes(reply.status)) return false
      if (reply.status !== STATUS.ok) throw statusError(request, reply)
      return true
    },
  }
}
