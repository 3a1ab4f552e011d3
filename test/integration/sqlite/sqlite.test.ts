import { describeSqliteExactness, FIRST } from './exactness.js'
import { passesOn } from './node-test.js'

jest.setTimeout(300_000)

test(`the store contract, durability and failures pass on Node ${FIRST}`, () => passesOn(FIRST, 'all'))

describeSqliteExactness('sample')
