export { storeConformance } from './testing/conformance/store-conformance.js'
export type {
  Capabilities,
  ConformanceSetup,
  StoreUnderTest,
} from './testing/conformance/store-under-test.js'
export type { TestCase } from './testing/test-case.js'
