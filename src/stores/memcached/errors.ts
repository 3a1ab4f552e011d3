import { StoreError } from '../store-error.js'
import type { MemcachedReply } from './client.js'
import { type MemcachedRequest, STATUS } from './protocol.js'

/** Returns the error for a reply with a status of failure. */
export function statusError({ key }: MemcachedRequest, { header, val }: MemcachedReply): StoreError {
  const { status } = header
  const cause = new Error(`memcached answered status ${status}: ${val.toString() || 'no text'}`)
  if (status === STATUS.notANumber) return foreignKeyError(key, cause)
  return new StoreError('memcached', cause.message, { cause, answered: true })
}

/** Returns the error for a key that headgate did not write, or not for this policy. */
export function foreignKeyError(key: string, cause = new Error(`${key} holds no state`)): StoreError {
  const message = `the key ${key} holds something other than a state of its policy. Give the limiter another prefix.`
  return new StoreError('memcached', message, { cause, answered: true })
}

/** Returns the error for a key that others changed during every attempt to swap it. */
export function contentionError(key: string): StoreError {
  const message = `others changed the key ${key} during every attempt`
  return new StoreError('memcached', message, { answered: true })
}
