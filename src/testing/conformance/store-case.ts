import type { PolicyMaker } from './sample-policies.js'
import type { StoreUnderTest } from './store-under-test.js'

/** One test of a store, which gets a fresh one. */
export interface StoreCase {
  readonly name: string
  readonly body: (made: StoreUnderTest) => Promise<void>
}

export type Bodies = Readonly<Record<string, StoreCase['body']>>

/** Returns a case for each body, named after the title and its own name. */
export function casesOf(title: string, bodies: Bodies): StoreCase[] {
  return Object.entries(bodies).map(([name, body]) => ({ name: title ? `${title} ${name}` : name, body }))
}

/** Returns the cases of each policy; `%s` in the title stands for its name. */
export function casesOfEach(
  policies: readonly (readonly [string, PolicyMaker])[],
  title: string,
  bodiesOf: (policyOf: PolicyMaker, name: string) => Bodies,
): StoreCase[] {
  return policies.flatMap(([name, policyOf]) => casesOf(title.replace('%s', name), bodiesOf(policyOf, name)))
}
