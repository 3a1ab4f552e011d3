import { timeout } from '../../util/timeout.js'
import { asStoreError, type StoreError } from '../store-error.js'

/** Less than a second, so that what happens every second goes on: with what this process knows. */
const TIMEOUT_MS = 800

/** Calls of one kind to a store that may fail or hang. */
export interface BoundedCalls {
  /** Calls the store, unless the last call is still pending. Waits for 800 ms at most, and never rejects. */
  attempt(call: () => Promise<void>): Promise<void>
  /** Why the last call failed; `undefined` if it succeeded. */
  problem(): string | undefined
  error(): StoreError | undefined
}

/** Creates calls of which one is pending at a time: a store that hangs would collect them. */
export function boundedCalls(store: string): BoundedCalls {
  const within = timeout(TIMEOUT_MS)
  let pending: Promise<void> | undefined
  let failure: StoreError | undefined

  async function attempt(call: () => Promise<void>): Promise<void> {
    pending ??= call().finally(() => {
      pending = undefined
    })
    try {
      await within(pending)
      failure = undefined
    } catch (error) {
      failure = asStoreError(store, error)
    }
  }

  return { attempt, problem: () => failure?.message, error: () => failure }
}
