import { batcher } from '../stores/shared/batcher.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import { isTrusted } from '../stores/shared/trusted.js'
import { checkBatching } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { isPromise } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { type End, pipeOf } from './call.js'
import { leasesOf } from './lease/leases.js'
import { publishToStoreChannel, storeChannel } from './store-channel.js'
import { validated } from './validated.js'

/**
 * Returns the end of the pipes to a store. Limiters that share the store share its batches. The outcomes of
 * a store that a user wrote are validated. Throws a `TypeError` for a `batching` by which operations would
 * never leave.
 */
export const endAt = weakMemo((store: Store): End => {
  const leases = leasesOf(store)
  if (leases !== undefined) return leases.end
  const isOurs = isTrusted(store) || localStatesOf(store) !== undefined
  const apply = isOurs ? store.apply.bind(store) : validated(store)
  if (store.batching === undefined) return sendAlone(store.name, apply)
  return sendInBatches(store.name, apply, store.batching)
})

/** Returns the pipe that has no layers, and ends at a store. */
export const pipeTo = weakMemo((store: Store) => pipeOf([], endAt(store)))

function sendAlone(name: string, apply: Store['apply']): End {
  const toStoreError = (cause: unknown) => asStoreError(name, cause)
  return (call) => {
    try {
      const outcomes = apply([call.operation])
      if (!isPromise(outcomes)) return outcomes[0]
      const settling = Promise.resolve(outcomes).then(([outcome]) => outcome, toStoreError)
      settling.then((outcome) => outcome && call.settle(outcome))
      return undefined
    } catch (cause) {
      return toStoreError(cause)
    }
  }
}

function sendInBatches(name: string, apply: Store['apply'], batching: NonNullable<Store['batching']>): End {
  checkBatching(`the store ${name}`, batching)
  return batcher(apply, batching, {
    toStoreError: (cause) => asStoreError(name, cause),
    onBatch(size, durationMs) {
      if (storeChannel.hasSubscribers) publishToStoreChannel({ type: 'batch', store: name, size, durationMs })
    },
  })
}
