import { useUpstash } from '../integration/upstash/use-upstash.js'
import { expectConformance } from './conformance.js'
import { RUNTIMES, type RuntimeName } from './runtimes.js'
import { optionsFor } from './use-upstash.js'

const NAMES = Object.keys(RUNTIMES) as RuntimeName[]
const upstash = useUpstash()

test.each(NAMES)('memoryStore keeps the store contract in %s', (name) =>
  expectConformance(name, `${__dirname}/apps/memory-conformance.ts`, 'all'),
)

test.each(NAMES)(
  'upstashStore keeps the store contract in %s',
  (name) => {
    const options = { ...optionsFor(upstash), store: `${__dirname}/stores/upstash.ts` }
    return expectConformance(name, `${__dirname}/apps/upstash-conformance.ts`, 'all', options)
  },
  300_000,
)
