import { wrongKind } from '../../util/validate.js'
import { isStore } from '../shared/validate.js'
import type { Store } from '../store.js'
import { type DocumentsReply, isDocumentsMessage, serveDocuments } from './document-codec.js'
import { decodeOperations, encodeOutcomes, type OutcomesMessage } from './operation-codec.js'
import { encodeFailure, type FailureMessage } from './owner-messages.js'
import { type PolicyFromText, policyFromText } from './policy-text.js'

/** A reply to a message of `ownerStore`, as plain data. Its content may change with any version of headgate. */
export type OwnerReply = OutcomesMessage | DocumentsReply | FailureMessage

/**
 * Returns a function that applies the operations in a message of `ownerStore`, and resolves with the reply
 * to send back. It never rejects: the reply says why operations failed.
 *
 * Accept messages only from trusted processes, because a message can charge or forget any key.
 *
 * The owner decides by its own clock. If `store` returns no promises, as `memoryStore` does, messages are
 * applied in the order in which they arrive. Throws a `TypeError` if `store` is not a store.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'headgate'
 * import { serveOperations } from 'headgate/store'
 *
 * const serve = serveOperations(memoryStore())
 * export default {
 *   async fetch(request: Request) {
 *     return Response.json(await serve(await request.json()))
 *   },
 * }
 * ```
 */
export function serveOperations(store: Store): (message: unknown) => Promise<OwnerReply> {
  if (!isStore(store)) {
    const fix = 'Write serveOperations(memoryStore()).'
    throw wrongKind('serveOperations', 'store', 'an object with name and apply', store, fix)
  }
  return (message) => serveMessage(store, message, policyFromText)
}

/** Applies the operations in a message, whose policies `policyOf` decodes. Resolves with the reply. */
export async function serveMessage(
  store: Store,
  message: unknown,
  policyOf: PolicyFromText,
): Promise<OwnerReply> {
  try {
    if (isDocumentsMessage(message)) return await serveDocuments(store, message)
    return encodeOutcomes(store.name, await store.apply(decodeOperations(store.name, message, policyOf)))
  } catch (error) {
    return encodeFailure(store.name, error)
  }
}
