/**
 * For tests: a clock to set by hand, and the contract of stores as tests.
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
