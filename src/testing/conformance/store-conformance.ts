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
 * Returns all that the store contract promises, as tests for any runner:
 *
 * ```js
 * for (const { name, run } of storeConformance({ makeStore, capabilities })) test(name, run)
 * ```
 *
 * Each test gets its own store from `makeStore`. The capabilities choose the tests; with
 * `settableClock` they include random traces, compared with a plain model. Tests of a store whose clock runs
 * wait for up to four seconds: let a runner's time-out be 30 seconds.
 *
 * Throws a `TypeError` for a wrong set-up.
 */
export function storeConformance(setup: ConformanceSetup): TestCase[] {
  const read = readSetup('storeConformance', setup)
  const { capabilities } = read
  const cases: StoreCase[] = [
    ...chargeCases,
    ...manyPartsCases,
    ...batchCases(capabilities),
    ...refundAndForgetCases,
    ...operationCases,
    ...concurrencyCases(capabilities),
    ...banCases(capabilities),
    ...keyCases(capabilities),
    ...expiryCases(capabilities),
    ...documentCases,
  ]
  const ofStores = cases.map(({ name, body }): TestCase => ({ name, run: () => withStore(read, body) }))
  return [...setupCases(read), ...ofStores, ...(capabilities.settableClock ? traceCases(read) : [])]
}
