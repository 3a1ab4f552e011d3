import { PROMISED } from '../../e2e/package/nodes.js'
import { describeSqliteExactness } from './exactness.js'
import { passesOn } from './node-test.js'

jest.setTimeout(300_000)

const NEWER = PROMISED.filter((major) => Number(major) > 22)

describe.each(NEWER)('on Node %s', (major) => {
  test.each(['durability', 'failures'])('%s passes', (name) => passesOn(major, name))
})

describeSqliteExactness('all')
