import type { Outcome } from '../stores/operation.js'
import { batcher } from '../stores/shared/batcher.js'
import { checkBatching } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { asStoreError, StoreError } from '../stores/store-error.js'
import { isPromise } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { type End, pipeOf } from './call.js'
import { publishToStoreChannel, storeChannel } from './store-channel.js'
import { validateOutcome } from './validate-outcome.js'

/**
 * Returns the end of the pipes to a store, which validates each outcome. Limiters that share the store share
 * its batches. Throws a `TypeError` for a `batching` by which operations would never leave.
 */
export const endAt = weakMemo((store: Store): End => {
  return store.batching === undefined ? sendAlone(store) : sendInBatches(store, store.batching)
})

/** Returns the pipe that has no layers, and ends at a store. */
export const pipeTo = weakMemo((store: Store) => pipeOf([], endAt(store)))

function sendAlone(store: Store): End {
  const toStoreError = (cause: unknown) => asStoreError(store.name, cause)
  return (call) => {
    const { operation } = call
    const read = (outcomes: readonly Outcome[]) =>
      validateOutcome(store, operation, checkCount(store, 1, outcomes)[0])
    try {
      const outcomes = store.apply([operation])
      if (!isPromise(outcomes)) return read(outcomes)
      const reading = Promise.resolve(outcomes).then(read)
      reading.catch(toStoreError).then((outcome) => call.settle(outcome))
      return undefined
    } catch (cause) {
      return toStoreError(cause)
    }
  }
}

function sendInBatches(store: Store, batching: NonNullable<Store['batching']>): End {
  const { name } = store
  checkBatching(`the store ${name}`, batching)
  return batcher(store.apply.bind(store), batching, {
    checkCount: checkCount.bind(undefined, store),
    validate: validateOutcome.bind(undefined, store),
    toStoreError: (cause) => asStoreError(name, cause),
    onBatch(size, durationMs) {
      if (storeChannel.hasSubscribers) publishToStoreChannel({ type: 'batch', store: name, size, durationMs })
    },
  })
}

/**
 * Returns a store's outcomes of a batch. Throws a `StoreError` if there are more or fewer of them than
 * operations: then none of them can be trusted, since each may belong to another operation.
 */
function checkCount(store: Store, count: number, outcomes: unknown): readonly Outcome[] {
  if (Array.isArray(outcomes) && outcomes.length === count) return outcomes
  const list = count === 1 ? 'one outcome' : `${count} outcomes`
  throw new StoreError(store.name, `apply did not return an array of ${list}`, { cause: outcomes })
}
