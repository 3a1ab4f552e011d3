import type { TestCase } from '../test-case.js'
import { banCases } from './bans.js'
import { batchCases } from './batches.js'
import { chargeCases } from './charges.js'
import { concurrencyCases } from './concurrency.js'
import { documentCases } from './documents.js'
import { expiryCases } from './expiry.js'
import { keyCases } from './key-names.js'
import { manyPartsCases } from './many-parts.js'
import { operationCases } from './operations.js'
import { refundAndForgetCases } from './refund-and-forget.js'
import { setupCases } from './setup.js'
import type { StoreCase } from './store-case.js'
import { type ConformanceSetup, readSetup, withStore } from './store-under-test.js'
import { traceCases } from './traces.js'

/**
 * Returns the contract of stores as tests for any test runner.
 *
 * Each test gets its own store from `makeStore`. `capabilities` select the tests. With `settableClock`, they
 * include random traces, which are compared with a plain model. If the store's clock runs, a test takes up
 * to four seconds, so give your runner a time-out of 30 seconds. Requires `fast-check`.
 *
 * Throws a `TypeError` for a wrong set-up.
 *
 * @example
 * ```ts
 * import { test } from 'node:test'
 * import { memoryStore } from 'headgate'
 * import { manualClock, storeConformance } from 'headgate/testing'
 *
 * const capabilities = { settableClock: true, anyKey: true, atomicAcrossKeys: true }
 * function makeStore() {
 *   const clock = manualClock()
 *   const advance = (ms: number) => void clock.advance(ms)
 *   return { store: memoryStore({ clock }), advance }
 * }
 * const cases = storeConformance({ makeStore, capabilities })
 * for (const { name, run } of cases) test(name, run)
 * ```
 */
export function storeConformance(setup: ConformanceSetup): TestCase[] {
  const read = readSetup('storeConformance', setup)
  const { capabilities } = read
  const cases: StoreCase[] = [
    ...chargeCases(),
    ...manyPartsCases(),
    ...batchCases(capabilities),
    ...refundAndForgetCases(),
    ...operationCases(),
    ...concurrencyCases(capabilities),
    ...banCases(capabilities),
    ...keyCases(capabilities),
    ...expiryCases(capabilities),
    ...documentCases,
  ]
  const ofStores = cases.map(({ name, body }): TestCase => ({ name, run: () => withStore(read, body) }))
  return [...setupCases(read), ...ofStores, ...(capabilities.settableClock ? traceCases(read) : [])]
}
