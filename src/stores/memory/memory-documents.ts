import type { Documents, StoredDocument } from '../documents.js'

/** The number of documents written in this process. It makes each version unique. */
let written = 0

/**
 * Creates the documents of a memory store, for one process and for tests. `checkWritable` throws if a change
 * would be lost.
 */
export function memoryDocuments(
  stored = new Map<string, StoredDocument>(),
  checkWritable = () => {},
): Documents {
  return {
    async read(requests) {
      return requests.map(({ key, version }) => {
        const document = stored.get(key)
        return document?.version === version ? document && { version: document.version } : document
      })
    },
    async replace(key, text, version) {
      checkWritable()
      if (stored.get(key)?.version !== version) return false
      stored.set(key, { text, version: String(++written) })
      return true
    },
  }
}
