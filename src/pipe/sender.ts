import { isIsolate } from '../platform.js'
import type { Outcome } from '../stores/operation.js'
import type { Batching, Store } from '../stores/store.js'
import { asStoreError, type StoreError } from '../stores/store-error.js'
import { isPromise } from '../util/maybe-promise.js'
import { Batcher, type BatcherOptions, type PendingOperation } from './batcher.js'

/**
 * Sends operations to a store. `send` returns the outcome of an operation if it is known at once, and
 * otherwise settles it later.
 */
export type Sender = Batcher | LoneCalls

/**
 * Creates a sender. It sends operations in batches, or each alone if there is no `batching`. On isolates, it
 * sends each alone, because in a batch, requests would wait for one another.
 */
export function senderTo(
  apply: Store['apply'],
  batching: Batching | false | undefined,
  options: BatcherOptions = {},
): Sender {
  return batching && !isIsolate() ? new Batcher(apply, batching, options) : new LoneCalls(apply, options)
}

/** Applies operations one at a time. */
class LoneCalls {
  readonly #apply: Store['apply']
  readonly #store: string | undefined

  constructor(apply: Store['apply'], { store }: BatcherOptions) {
    this.#apply = apply
    this.#store = store
  }

  send(item: PendingOperation): Outcome | undefined {
    const store = this.#store
    const toStoreError = (cause: unknown) =>
      store === undefined ? (cause as StoreError) : asStoreError(store, cause)
    try {
      const outcomes = this.#apply([item.operation])
      if (!isPromise(outcomes)) return outcomes[0]
      const settling = Promise.resolve(outcomes).then(([outcome]) => outcome, toStoreError)
      settling.then((outcome) => outcome && item.settle(outcome))
      return undefined
    } catch (cause) {
      return toStoreError(cause)
    }
  }
}
