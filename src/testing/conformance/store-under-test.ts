import { readOptions } from '../../options/option-table.js'
import type { Unchecked } from '../../stores/shared/validate.js'
import type { Store } from '../../stores/store.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { wrongOption } from '../../util/validate.js'
import { checkStore } from '../check-store.js'

/** A fresh, empty store, and what a test may do to its surroundings. */
export interface StoreUnderTest {
  readonly store: Store
  /**
   * Lets at least so many milliseconds pass by the store's clock: a fake clock is set, a real one is waited
   * for. With `settableClock` exactly so many; they may have a fraction.
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
  /**
   * Takes any string as a key; lone surrogates may be one character, as in UTF-8. Without it: printable
   * ASCII without blanks, at most 250 bytes.
   */
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
  /** Called for every test, and several hundred times by the tests on random traces. */
  makeStore(): MaybePromise<StoreUnderTest>
  /** Each one has to be stated. */
  readonly capabilities: Capabilities
}

const MAKE_STORE = 'Write makeStore: () => ({ store, advance(ms) { … } }).'

const CAPABILITIES = {
  rows: { settableClock: readCapability, anyKey: readCapability, atomicAcrossKeys: readCapability },
}

const SETUP = {
  rows: { makeStore: readMakeStore, capabilities: readCapabilities },
}

/** Returns a set-up. Throws a `TypeError` for everything that is wrong with it. */
export function readSetup(owner: string, setup: ConformanceSetup): ConformanceSetup {
  return readOptions(owner, setup, SETUP)
}

function readCapability(owner: string, option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const fix = 'State each capability, so that no test is skipped by accident.'
  throw wrongOption(owner, option, 'true or false', value, fix)
}

function readMakeStore(owner: string, option: string, value: unknown): ConformanceSetup['makeStore'] {
  if (typeof value === 'function') return value as ConformanceSetup['makeStore']
  throw wrongOption(owner, option, 'a function', value, MAKE_STORE)
}

function readCapabilities(owner: string, option: string, value: unknown): Capabilities {
  if (value !== undefined) return readOptions(`${owner} ${option}`, value as object, CAPABILITIES)
  const names = Object.keys(CAPABILITIES.rows).join(', ')
  throw wrongOption(owner, option, `an object that states ${names}`, value)
}

/** Runs a test body with a fresh store, and closes it whatever happens. */
export async function withStore(
  { makeStore }: ConformanceSetup,
  body: (made: StoreUnderTest) => Promise<void>,
): Promise<void> {
  const storeUnderTest = checkMade(await makeStore())
  try {
    await body(storeUnderTest)
  } finally {
    await storeUnderTest.close?.()
  }
}

function checkMade(made: StoreUnderTest): StoreUnderTest {
  const { store, advance }: Unchecked<StoreUnderTest> = made ?? {}
  checkStore('makeStore', store, MAKE_STORE)
  if (typeof advance === 'function') return made
  throw wrongOption('makeStore', 'advance', 'a function', advance, MAKE_STORE)
}
