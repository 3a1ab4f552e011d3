import type { Outcome } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { isPromise } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { Batcher, type PendingOperation } from './batcher.js'
import { leasesOf } from './lease/leases.js'
import { type Pipe, sendFor } from './pipe.js'
import { remoteAccessOf } from './remote-access.js'
import { storeChannel } from './store-channel.js'

/** The end of the pipes to a store. */
export interface StoreEnd {
  /** Sends an operation. Returns the outcome if it is known at once. Otherwise settles it later. */
  send(item: PendingOperation): Outcome | undefined
}

/**
 * Returns the end of the pipes to a store. It sends operations in batches, or one at a time if the store has
 * no `batching`. Limiters that share the store share its batches. The end checks the outcomes of a store
 * that a user wrote.
 */
export const endAt = weakMemo((store: Store): StoreEnd => {
  const leases = leasesOf(store)
  if (leases !== undefined) return leases
  const { name, batching } = store
  const apply = remoteAccessOf(store)?.validatedApply?.(store) ?? store.apply.bind(store)
  if (batching === undefined) return { send: (item) => sendAlone(name, apply, item) }
  return new Batcher(apply, batching, { store: name, channel: storeChannel })
})

function sendAlone(store: string, apply: Store['apply'], item: PendingOperation): Outcome | undefined {
  const toStoreError = (cause: unknown) => asStoreError(store, cause)
  try {
    const outcomes = apply([item.operation])
    if (!isPromise(outcomes)) return outcomes[0]
    const settling = Promise.resolve(outcomes).then(([outcome]) => outcome, toStoreError)
    settling.then((outcome) => outcome && item.settle(outcome))
    return undefined
  } catch (cause) {
    return toStoreError(cause)
  }
}

/** Returns a pipe that leads straight to an end. */
export function pipeInto(end: StoreEnd): Pipe {
  return { send: sendFor((operation, settle) => end.send({ operation, settle })) }
}

/** Returns the pipe that leads straight to a store. */
export const pipeTo = weakMemo((store: Store) => pipeInto(endAt(store)))
