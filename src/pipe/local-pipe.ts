import type { KeyedPolicy, Operation } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { inBackground } from '../util/background-timer.js'
import type { BreakerState } from './breaker-state.js'
import type { ImmediateOutcome, OnLate, Pipe, RefundingPipe, Settle } from './pipe.js'

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

  send<O extends Operation>(operation: O, settle: Settle<O>, onLate?: OnLate<O>): ImmediateOutcome<O> {
    if (this.#front !== undefined) return this.#front.send(operation, settle, onLate)
    try {
      return (this.#store.apply([operation]) as readonly ImmediateOutcome<O>[])[0]
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

  /** Returns `pipe` as it is: the memory of a process has no outages. */
  resendRefunds(pipe: Pipe): RefundingPipe {
    return { send: pipe.send, close: async () => {} }
  }

  /** Closes the store, within the time-out. */
  async close(): Promise<void> {
    const timeUp = new Promise((resolve) => inBackground(setTimeout(resolve, this.#timeoutMs)))
    await Promise.race([this.#store.close?.(), timeUp])
  }
}
