import { fieldsOf } from '../../util/values.js'
import type { DocumentRequest, Documents, StoredDocument } from '../documents.js'
import type { Store } from '../store.js'
import { asStoreError, StoreError } from '../store-error.js'
import { checkVersion, invalidReply, readReply, VERSION } from './owner-messages.js'

/** A call of `read` or `replace` on the documents of an owner, as plain data. */
export interface DocumentsMessage {
  readonly headgate: 'documents'
  readonly version: number
  readonly read?: readonly DocumentRequest[]
  readonly replace?: DocumentReplacement
}

interface DocumentReplacement {
  readonly key: string
  readonly text: string
  readonly replaced: string | undefined
}

/**
 * The result of a `DocumentsMessage`. `null` stands for a missing document, because JSON has no `undefined`.
 */
export interface DocumentsReply {
  readonly headgate: 'documents'
  readonly version: number
  readonly found?: readonly (StoredDocument | null)[]
  readonly hasReplaced?: boolean
}

export function isDocumentsMessage(message: unknown): boolean {
  return fieldsOf(message).headgate === 'documents'
}

/** Calls the documents of a store. Rejects if the message is wrong, or the store has no documents. */
export async function serveDocuments({ name, documents }: Store, message: unknown): Promise<DocumentsReply> {
  const { version, read, replace } = fieldsOf(message)
  checkVersion(name, version)
  if (documents === undefined) throw new StoreError(name, 'the store has no documents', { replied: true })
  const reply = { headgate: 'documents', version: VERSION } as const
  if (Array.isArray(read) && read.every(isRequest)) {
    const found = await documents.read(read)
    return { ...reply, found: found.map((document) => document ?? null) }
  }
  const { key, text, replaced } = fieldsOf(replace)
  if (typeof key === 'string' && typeof text === 'string' && isVersion(replaced))
    return { ...reply, hasReplaced: await documents.replace(key, text, replaced) }
  throw new TypeError('the message does not ask for documents')
}

function isRequest(value: unknown): value is DocumentRequest {
  const { key, version } = fieldsOf(value)
  return typeof key === 'string' && isVersion(version)
}

function isVersion(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

/**
 * Returns the documents of an owner. `send` takes messages to its `serveOperations`; `store` is the name in
 * errors.
 */
export function ownerDocuments(
  store: string,
  send: (message: DocumentsMessage) => Promise<unknown>,
): Documents {
  async function ask(call: Pick<DocumentsMessage, 'read' | 'replace'>) {
    try {
      const reply = await send({ headgate: 'documents', version: VERSION, ...call })
      return readReply(store, 'documents', reply)
    } catch (cause) {
      throw asStoreError(store, cause)
    }
  }
  return {
    async read(requests) {
      const { found } = await ask({ read: requests })
      if (!Array.isArray(found) || found.length !== requests.length) throw invalidReply(store, found)
      return Array.from(found, (document: StoredDocument | null) => document ?? undefined)
    },
    async replace(key, text, replaced) {
      const { hasReplaced } = await ask({ replace: { key, text, replaced } })
      if (typeof hasReplaced !== 'boolean') throw invalidReply(store, hasReplaced)
      return hasReplaced
    },
  }
}
