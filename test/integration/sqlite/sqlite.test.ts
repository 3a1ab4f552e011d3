import { describeSqliteExactness, FIRST } from './exactness.js'
import { passesOn } from './node-test.js'

jest.setTimeout(300_000)

describe.each(['conformance', 'durability', 'failures'])('%s', (name) => {
  test(`passes on Node ${FIRST}`, () => passesOn(FIRST, name))
})

describeSqliteExactness('sample')
