import { expectConformance } from './conformance.js'
import type { RuntimeName } from './runtimes.js'

const RUNNING: readonly RuntimeName[] = ['workerd with nodejs_compat', 'Deno', 'Bun']

test.each(RUNNING)('memoryStore keeps a sample of the store contract in %s', (name) =>
  expectConformance(name, `${__dirname}/apps/memory-conformance.ts`, 'sample'),
)
