import type { Documents, StoredDocument } from '../documents.js'

/** The number of documents written in this process. It makes each version unique. */
let written = 0

/** Creates the documents of a memory store, for one process and for tests. A dump replaces `documents`. */
export function memoryDocuments(states: { readonly documents: Map<string, StoredDocument> }): Documents {
  return {
    async read(requests) {
      return requests.map(({ key, version }) => {
        const document = states.documents.get(key)
        return document?.version === version ? document && { version: document.version } : document
      })
    },
    async replace(key, text, version) {
      const { documents } = states
      if (documents.get(key)?.version !== version) return false
      documents.set(key, { text, version: String(++written) })
      return true
    },
  }
}
