import { testBans } from './bans.js'
import { testBatches } from './batches.js'
import { testCharges } from './charges.js'
import { testDifferential } from './differential.js'
import { testExpiry } from './expiry.js'
import { testKeys } from './key-names.js'
import { testManyParts } from './many-parts.js'
import { testRefundAndForget } from './refund-and-forget.js'
import { type ConformanceSetup, usingStores } from './store-under-test.js'

export type { Capabilities, ConformanceSetup, StoreUnderTest } from './store-under-test.js'

/**
 * All that the store contract promises, as tests. Every store runs them; a new store's test is a set-up and
 * this call.
 */
export function describeStoreConformance(name: string, setup: ConformanceSetup): void {
  const using = usingStores(setup)
  describe(`${name} keeps the store contract`, () => {
    testCharges(using)
    testManyParts(using)
    testBatches(using, setup.capabilities)
    testRefundAndForget(using)
    testBans(using, setup.capabilities)
    testKeys(using, setup.capabilities)
    testExpiry(using, setup.capabilities)
    if (setup.capabilities.settableClock) testDifferential(using)
  })
}
