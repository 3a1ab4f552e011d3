import { isPromise } from '../../util/maybe-promise.js'
import { weakMemo } from '../../util/memo.js'
import type { Operation, Outcome } from '../operation.js'
import type { Store } from '../store.js'
import { asStoreError } from '../store-error.js'
import { batcher } from './batcher.js'
import type { Pipe, Settle } from './pipe.js'
import { publishToStoreChannel, storeChannel } from './store-channel.js'
import { checkBatching } from './validate.js'
import { checkCount, onlyOutcome, validateOutcome } from './validate-outcome.js'

type SendAny = (operation: Operation, settle: Settle<Operation>) => Outcome | undefined

/**
 * Returns the pipe that ends in a store. It validates each outcome. Limiters that share the store share its
 * batches. Throws a `TypeError` for a `batching` by which operations would never leave.
 */
export const pipeTo = weakMemo((store: Store): Pipe => {
  const send: SendAny = store.batching === undefined ? sendAlone(store) : sendInBatches(store, store.batching)
  return { send: send as Pipe['send'] }
})

function sendAlone(store: Store): SendAny {
  const failed = (cause: unknown) => asStoreError(store.name, cause)
  return (operation, settle) => {
    try {
      const outcomes = store.apply([operation])
      if (!isPromise(outcomes)) return onlyOutcome(store, operation, outcomes)
      Promise.resolve(outcomes).then(
        (later) => settle(onlyOutcome(store, operation, later) as never),
        (cause) => settle(failed(cause)),
      )
      return undefined
    } catch (cause) {
      return failed(cause)
    }
  }
}

function sendInBatches(store: Store, batching: NonNullable<Store['batching']>): SendAny {
  const { name } = store
  checkBatching(`the store ${name}`, batching)
  const apply: Store['apply'] = async (operations, settle) => {
    try {
      return checkCount(store, operations.length, await store.apply(operations, settle))
    } catch (cause) {
      throw asStoreError(name, cause)
    }
  }
  return batcher(apply, batching, {
    validate: validateOutcome.bind(undefined, store),
    onBatch(size, durationMs) {
      if (storeChannel.hasSubscribers) publishToStoreChannel({ type: 'batch', store: name, size, durationMs })
    },
  })
}
