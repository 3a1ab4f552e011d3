/**
 * A manual clock for tests of your limits, and tests for your own store.
 *
 * @module
 */

export { storeConformance } from './testing/conformance/store-conformance.js'
export type {
  Capabilities,
  ConformanceSetup,
  StoreUnderTest,
} from './testing/conformance/store-under-test.js'
export { serveStore } from './testing/exactness/serve-store.js'
export { type ExactnessSetup, storeExactness } from './testing/exactness/store-exactness.js'
export { type ManualClock, manualClock } from './testing/manual-clock.js'
export type { TestCase } from './testing/test-case.js'
