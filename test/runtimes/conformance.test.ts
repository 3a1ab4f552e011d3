import { expectConformance } from './conformance.js'
import { RUNTIMES, type RuntimeName } from './runtimes.js'

test.each(Object.keys(RUNTIMES) as RuntimeName[])(
  'memoryStore keeps a sample of the store contract in %s',
  (name) => expectConformance(name, `${__dirname}/apps/memory-conformance.ts`, 'sample'),
)
