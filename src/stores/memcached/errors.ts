import { foreignKeyError } from '../shared/state-codec.js'
import { messageOf, StoreError } from '../store-error.js'
import { type MemcachedRequest, type Reply, STATUS, valueIn } from './protocol.js'

/** Returns the error for a reply with a status of failure. */
export function statusError({ key }: MemcachedRequest, reply: Reply): StoreError {
  const { status } = reply
  const cause = new Error(
    `memcached replied with status ${status}: ${valueIn(reply).toString() || 'no text'}`,
  )
  if (status === STATUS.notANumber) return foreignKeyError('memcached', key, cause)
  const needsUser = status === STATUS.authRequired || status === STATUS.authRejected
  const fix = needsUser ? ". Pass the server's user and password to Client.create()." : ''
  return new StoreError('memcached', `${cause.message}${fix}`, { cause, replied: true })
}

/** The operator's fix for an error of a connection, by its text. */
const FIXES: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT/, "Check that memcached runs at the client's address."],
  [/ECONNRESET/, 'If it uses TLS on this port, connect to a port without TLS: memjs has no TLS.'],
]

/** Returns the error of requests that have no reply because of their connection. */
export function connectionError(cause: unknown, server: string | undefined): StoreError {
  const reason = messageOf(cause)
  const fix = FIXES.find(([pattern]) => pattern.test(reason))?.[1]
  const message = [server === undefined ? reason : `${server}: ${reason}`, fix ?? []].flat().join('. ')
  return new StoreError('memcached', message, { cause, server })
}
