import type { KeyedPolicy, Operation, Outcome, ResultOf } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { asStoreError, type StoreError } from '../stores/store-error.js'
import { Deadlines } from '../util/timeout.js'
import type { BreakerState } from './breaker-state.js'
import { closeStore } from './close-store.js'
import type { OnLate, Pipe, Settle, SettleAny } from './pipe.js'

/** The pipe to a store whose states are in this process. Each outcome is known at once. */
export class LocalPipe implements Pipe {
  /** The store's name. */
  readonly name: string
  readonly #store: Store
  readonly #timeoutMs: number
  readonly #front: Pipe | undefined

  /** All operations pass through `front`, if there is one. */
  constructor(store: Store, timeoutMs = 0, front?: Pipe) {
    this.name = store.name
    this.#store = store
    this.#timeoutMs = timeoutMs
    this.#front = front
  }

  send<O extends Operation>(
    operation: O,
    settle: Settle<O>,
    onLate?: OnLate<O>,
  ): ResultOf<O> | StoreError | undefined
  send(operation: Operation, settle: SettleAny, onLate?: OnLate): Outcome | undefined {
    if (this.#front !== undefined) return this.#front.send(operation, settle, onLate)
    try {
      return (this.#store.apply([operation]) as readonly Outcome[])[0]
    } catch (cause) {
      return asStoreError(this.name, cause)
    }
  }

  state(_keys?: readonly KeyedPolicy[]): BreakerState {
    return 'closed'
  }

  probeKeys(key: string): readonly string[] {
    return [key]
  }

  /** Closes the store, within the time-out. */
  close(): Promise<void> {
    return closeStore(this.#store, new Deadlines(this.#timeoutMs))
  }
}
