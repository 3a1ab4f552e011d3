import { type Fields, fieldsOf } from '../../util/values.js'
import type { OwnerMessage } from '../builders/owner-store.js'
import type { OwnerReply } from '../builders/serve-operations.js'

/** The name of the store, unless `clusterStore` is given another. */
export const DEFAULT_NAME = 'limits'

/** A request to the process that owns a store. */
export interface ClusterRequest {
  readonly headgate: 'cluster-request'
  /** Unique among the requests of the process. */
  readonly id: number
  /** The name of the store. */
  readonly store: string
  readonly message: OwnerMessage
}

export interface ClusterReply {
  readonly headgate: 'cluster-reply'
  readonly id: number
  readonly reply: OwnerReply
}

/** Returns the fields of a request, or `undefined` for a message of the application or another library. */
export function asRequest(message: unknown): (Fields & { id: number; store: string }) | undefined {
  const fields = fieldsOf(message)
  const { headgate, id, store } = fields
  if (headgate !== 'cluster-request' || typeof id !== 'number' || typeof store !== 'string') return undefined
  return { ...fields, id, store }
}

export function isReply(message: unknown): message is ClusterReply {
  const { headgate, id } = fieldsOf(message)
  return headgate === 'cluster-reply' && typeof id === 'number'
}
