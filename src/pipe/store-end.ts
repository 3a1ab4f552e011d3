import type { Outcome } from '../stores/operation.js'
import { Batcher, type Waiting } from '../stores/shared/batcher.js'
import type { Batching, Store } from '../stores/store.js'
import { asStoreError, type StoreError } from '../stores/store-error.js'
import { isPromise } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { type Leases, leasesOf } from './lease/leases.js'
import { remoteAccessOf } from './limiter-pipe.js'
import { type Pipe, sendFor } from './pipe.js'
import { publishToStoreChannel, storeChannel } from './store-channel.js'

/**
 * The end of the pipes to a store. It sends operations in batches, or each alone if the store has no
 * `batching`. The outcomes of a store that a user wrote are validated.
 */
export class StoreEnd {
  readonly #name: string
  readonly #apply: Store['apply']
  /** Sends the operations of a leased store. */
  readonly #leases: Leases | undefined
  readonly #batcher: Batcher | undefined

  constructor(store: Store) {
    this.#name = store.name
    this.#apply = remoteAccessOf(store)?.validated?.(store) ?? store.apply.bind(store)
    this.#leases = leasesOf(store)
    if (this.#leases === undefined && store.batching !== undefined)
      this.#batcher = this.#batcherBy(store.batching)
  }

  /** Sends an operation. Returns the outcome if it is known at once. Otherwise settles it later. */
  send(item: Waiting): Outcome | undefined {
    if (this.#batcher !== undefined) return this.#batcher.submit(item)
    if (this.#leases !== undefined) return this.#leases.send(item)
    return this.#sendAlone(item)
  }

  #sendAlone(item: Waiting): Outcome | undefined {
    try {
      const outcomes = this.#apply([item.operation])
      if (!isPromise(outcomes)) return outcomes[0]
      const settling = Promise.resolve(outcomes).then(([outcome]) => outcome, this.#toStoreError)
      settling.then((outcome) => outcome && item.settle(outcome))
      return undefined
    } catch (cause) {
      return this.#toStoreError(cause)
    }
  }

  #batcherBy(batching: Batching): Batcher {
    const store = this.#name
    return new Batcher(this.#apply, batching, {
      toStoreError: this.#toStoreError,
      onBatch(size, durationMs) {
        if (storeChannel.hasSubscribers) publishToStoreChannel({ type: 'batch', store, size, durationMs })
      },
    })
  }

  readonly #toStoreError = (cause: unknown): StoreError => asStoreError(this.#name, cause)
}

/** Returns the end of the pipes to a store. Limiters that share the store share its batches. */
export const endAt = weakMemo((store: Store) => new StoreEnd(store))

/** Returns a pipe that leads straight to an end. */
export function pipeInto(end: Pick<StoreEnd, 'send'>): Pipe {
  return { send: sendFor((operation, settle) => end.send({ operation, settle })) }
}

/** Returns the pipe that leads straight to a store. */
export const pipeTo = weakMemo((store: Store) => pipeInto(endAt(store)))
