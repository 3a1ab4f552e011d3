import { type ConformanceSetup, storeConformance } from 'headgate/testing'

/** Defines the tests of the store contract for one of the repository's stores. */
export function describeStoreConformance(name: string, setup: ConformanceSetup): void {
  describe(`${name} keeps the store contract`, () => {
    for (const each of storeConformance(setup)) test(each.name, each.run)
  })
}
