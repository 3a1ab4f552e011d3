import { describeAtOnce } from './at-once.js'
import { describeInterleavings } from './interleavings.js'
import { useDynalite } from './use-dynalite.js'

jest.setTimeout(600_000)

const tables = useDynalite()

describeAtOnce(tables, [5, 50, 300])
describeInterleavings(tables, { numRuns: 12, leastOvertaken: 1 })
