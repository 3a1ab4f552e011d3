import type { Store } from '../stores/store.js'
import { weakMemo } from '../util/memo.js'
import { type Leases, leasesOf } from './lease/leases.js'
import { type Pipe, sendFor } from './pipe.js'
import { remoteSupportOf } from './remote-support.js'
import { type Sender, senderTo } from './sender.js'
import { storeChannel } from './store-channel.js'

/** The end of the pipes to a store, which calls the store. */
export type StoreEnd = Sender | Leases

/**
 * Returns the end of the pipes to a store. It sends operations in batches, or one at a time if the store has
 * no `batching`. Limiters that share the store share its batches. The end checks the outcomes of a store
 * that a user wrote.
 */
export const endAt = weakMemo((store: Store): StoreEnd => {
  const leases = leasesOf(store)
  if (leases !== undefined) return leases
  const { name, batching } = store
  const apply = remoteSupportOf(store)?.validatedApply?.(store) ?? store.apply.bind(store)
  return senderTo(apply, batching, { store: name, channel: storeChannel })
})

/** Returns a pipe that leads straight to an end. */
export function pipeInto(end: Pick<StoreEnd, 'send'>): Pipe {
  return { send: sendFor((operation, settle) => end.send({ operation, settle })) }
}

/** Returns the pipe that leads straight to a store. */
export const pipeTo = weakMemo((store: Store) => pipeInto(endAt(store)))
