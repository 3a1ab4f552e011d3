import { readOptions } from '../../options/option-table.js'
import type { Unchecked } from '../../stores/shared/validate.js'
import type { Store } from '../../stores/store.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { wrongOption } from '../../util/validate.js'
import { checkStore } from '../check-store.js'

/** A fresh, empty store, and what a test may do around it. */
export interface StoreUnderTest {
  readonly store: Store
  /**
   * Lets at least `ms` milliseconds pass by the store's clock. Set a fake clock, or wait for a real one.
   * With `settableClock`, exactly `ms` must pass, which may have a fraction.
   */
  advance(ms: number): MaybePromise<void>
  /** Closes everything that was opened for this store. */
  close?(): MaybePromise<void>
}

/** What a store can do beyond the contract. You state it, so no test is skipped by accident. */
export interface Capabilities {
  /**
   * Whether the store's clock stands still until `advance` moves it. Tests then know every figure in
   * advance. If false, the clock runs, and any time may pass between two calls.
   */
  readonly settableClock: boolean
  /**
   * Whether any string can be a key. Lone surrogates may count as one character, as in UTF-8. If false, keys
   * are printable ASCII without blanks, at most 250 bytes.
   */
  readonly anyKey: boolean
  /**
   * Whether a charge of several keys is decided in one moment, whatever its keys are. If false, keys may be
   * in shards that are charged one after the other. Charges that cross may then deny each other, and a
   * denied charge must be refunded when its verdict arrives. No limit may be exceeded.
   */
  readonly atomicAcrossKeys: boolean
}

/** Options of `storeConformance`. */
export interface ConformanceSetup {
  /** Returns a store for one test. The tests on random traces call it several hundred times. */
  makeStore(): MaybePromise<StoreUnderTest>
  /** What the store can do. Each capability must be true or false. */
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
