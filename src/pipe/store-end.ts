import type { Outcome } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { isPromise } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { Batcher, type PendingOperation } from './batcher.js'
import { type Leases, leasesOf } from './lease/leases.js'
import { type Pipe, sendFor } from './pipe.js'
import { remoteSupportOf } from './remote-support.js'
import { storeChannel } from './store-channel.js'

/**
 * The end of the pipes to a store. `send` returns the outcome of an operation if it is known at once, and
 * otherwise settles it later.
 */
export type StoreEnd = Batcher | LoneCalls | Leases

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
  if (batching === undefined) return new LoneCalls(name, apply)
  return new Batcher(apply, batching, { store: name, channel: storeChannel })
})

/** Applies operations one at a time. */
class LoneCalls {
  readonly #store: string
  readonly #apply: Store['apply']

  constructor(store: string, apply: Store['apply']) {
    this.#store = store
    this.#apply = apply
  }

  send(item: PendingOperation): Outcome | undefined {
    const toStoreError = (cause: unknown) => asStoreError(this.#store, cause)
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

/** Returns a pipe that leads straight to an end. */
export function pipeInto(end: Pick<StoreEnd, 'send'>): Pipe {
  return { send: sendFor((operation, settle) => end.send({ operation, settle })) }
}

/** Returns the pipe that leads straight to a store. */
export const pipeTo = weakMemo((store: Store) => pipeInto(endAt(store)))
