import { type ConformanceSetup, storeConformance, type TestCase } from 'headgate/testing'
import { groupBy } from '../../src/util/group-by.js'

/** What cases of the suite differ in: they say the same of each policy, or of each pair of policies. */
const POLICY =
  /tokenBucket|slidingWindow|slidingLog|fixedWindow from the first request|fixedWindow|consecutive|quota/g

/**
 * Which tests of the store contract: all, or a sample. Each kind of server has all of them with one driver;
 * other drivers have the sample or nothing, and all of them in `npm run test:long`.
 */
export type Extent = 'all' | 'sample'

/** Cases that make hundreds of requests. A small sample leaves them out, for a server that is slow at them. */
const LARGE = /random traces|in opposite order|many keys at once|no concurrent change/

/** Defines the tests of the store contract for one of the repository's stores. */
export function describeStoreConformance(
  name: string,
  setup: ConformanceSetup,
  extent: Extent | 'small sample' = 'all',
): void {
  const cases = storeConformance(setup)
  describe(`${name} keeps the store contract`, () => {
    for (const { name, run } of casesOf(cases, extent)) test(name, run)
  })
}

function casesOf(cases: readonly TestCase[], extent: Extent | 'small sample') {
  if (extent === 'all') return cases
  const sample = sampleOf(cases)
  return extent === 'sample' ? sample : sample.filter(({ name }) => !LARGE.test(name))
}

/** Returns each sentence of the contract once, of one policy after the other. */
export function sampleOf(cases: readonly TestCase[]): TestCase[] {
  const sentences = Array.from(groupBy(cases, ({ name }) => name.replace(POLICY, '*')).values())
  return sentences.flatMap((same, i) => same[i % same.length] ?? [])
}
