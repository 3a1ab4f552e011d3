import { type Fields, fieldsOf } from '../../util/values.js'
import { asStoreError, StoreError } from '../store-error.js'

/**
 * The version of all messages between a process and the owner of its states. A process of another version
 * reports an error instead of misreading them.
 */
export const VERSION = 1

/**
 * Throws unless a message has this version. The error is `unsent`, because the message has changed nothing.
 */
export function checkVersion(store: string, version: unknown): void {
  if (version === VERSION) return
  const problem = `the message has version ${version}, but this process reads version ${VERSION}`
  const fix = 'Run the same version of headgate in all processes, and restart the older ones.'
  throw new StoreError(store, `${problem}. ${fix}`, { unsent: true })
}

/** The reason why a message has no result, as plain data. */
export interface FailureMessage {
  readonly headgate: 'failure'
  readonly version: number
  readonly error: object
}

/** Encodes the reason why a message has no result. */
export function encodeFailure(store: string, reason: unknown): FailureMessage {
  return { headgate: 'failure', version: VERSION, error: encodeError(store, reason) }
}

/**
 * Returns the fields of a reply of this kind and version. Throws the `StoreError` in a failure, and a
 * `StoreError` of `store` for anything else.
 */
export function readReply(store: string, kind: string, message: unknown): Fields {
  const reply = fieldsOf(message)
  if (reply.headgate === 'failure' && reply.error !== undefined) throw decodeError(reply.error)
  if (reply.headgate === kind && reply.version === VERSION) return reply
  throw invalidReply(store, message)
}

export function invalidReply(store: string, cause: unknown): StoreError {
  return new StoreError(store, 'the owner process sent an invalid reply', { cause })
}

export function encodeError(name: string, reason: unknown): object {
  const { store, message, replied, unsent, server } = asStoreError(name, reason)
  return { store, message, replied, unsent, ...(server !== undefined && { server }) }
}

/** Decodes an error, whose message begins with the name of its store. */
export function decodeError(error: unknown): StoreError {
  const { store, message, replied, unsent, server } = fieldsOf(error)
  const name = typeof store === 'string' ? store : 'owner'
  const text = typeof message === 'string' ? message : ''
  return new StoreError(name, text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text, {
    replied: replied === true,
    unsent: unsent === true,
    server: typeof server === 'string' ? server : undefined,
  })
}
