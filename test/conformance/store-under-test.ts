import type { MaybePromise, Store } from 'headgate'

/** A fresh, empty store, and what a test may do to its surroundings. */
export interface StoreUnderTest {
  readonly store: Store
  /**
   * Lets at least so many milliseconds pass by the store's clock: a fake clock is set, a real one is waited
   * for.
   */
  advance(ms: number): MaybePromise<void>
  /** Closes everything that was opened for this store. */
  close?(): MaybePromise<void>
}

/**
 * What a store can do beyond the contract, so that tests are chosen by statement and never skipped by
 * accident.
 */
export interface Capabilities {
  /**
   * `advance` sets a clock that otherwise stands still, so that tests know every figure in advance. Without
   * it the clock runs on, and any time may pass between two calls.
   */
  readonly settableClock: boolean
  /** Takes any string as a key. Without it: printable ASCII without blanks, at most 250 bytes. */
  readonly anyKey: boolean
  /**
   * A charge of several keys is decided in one moment, whatever its keys are. Without it, keys may live in
   * shards that are charged one after the other: charges that cross may deny each other, but never is more
   * than a limit admitted, and a denied charge has been refunded when its verdict arrives.
   */
  readonly atomicAcrossKeys: boolean
}

/** What the conformance suite needs to know of a store. */
export interface ConformanceSetup {
  makeStore(): MaybePromise<StoreUnderTest>
  readonly capabilities: Capabilities
}

/** Runs a test body with a fresh store, and closes it whatever happens. */
export type Using = (body: (made: StoreUnderTest) => Promise<void>) => () => Promise<void>

export function usingStores({ makeStore }: ConformanceSetup): Using {
  return (body) => async () => {
    const made = await makeStore()
    try {
      await body(made)
    } finally {
      await made.close?.()
    }
  }
}
