import { foreignKeyError } from '../shared/state-codec.js'
import { StoreError } from '../store-error.js'
import type { MemcachedReply } from './client.js'
import { type MemcachedRequest, STATUS } from './protocol.js'

/** Returns the error for a reply with a status of failure. */
export function statusError({ key }: MemcachedRequest, { header, val }: MemcachedReply): StoreError {
  const { status } = header
  const cause = new Error(`memcached replied with status ${status}: ${val.toString() || 'no text'}`)
  if (status === STATUS.notANumber) return foreignKeyError('memcached', key, cause)
  return new StoreError('memcached', cause.message, { cause, replied: true })
}
