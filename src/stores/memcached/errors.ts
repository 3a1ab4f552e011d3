import { StoreError } from '../store-error.js'
import type { MemcachedReply } from './client.js'
import { type Ask, STATUS } from './protocol.js'

/** Why a server did not do what was asked. */
export function refusal({ key }: Ask, { header: { status }, val }: MemcachedReply): StoreError {
  const cause = new Error(`memcached answered status ${status}: ${val.toString() || 'no text'}`)
  if (status === STATUS.notANumber) return foreignItem(key, cause)
  return new StoreError('memcached', cause.message, { cause, answered: true })
}

/** Why a charge that names somebody else's item is not decided. */
export function foreignItem(key: string, cause?: Error): StoreError {
  const message = `the item ${key} is somebody else's. Give the limiter another prefix.`
  return new StoreError('memcached', message, {
    cause: cause ?? new Error(`${key} holds no state`),
    answered: true,
  })
}
