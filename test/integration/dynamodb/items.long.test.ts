import { describeAtOnce } from './at-once.js'
import { describeExpiries } from './expiries.js'
import { describeInterleavings } from './interleavings.js'
import { useDynalite } from './use-dynalite.js'

jest.setTimeout(600_000)

const tables = useDynalite()

describeAtOnce(tables, [5, 50, 300])
describeExpiries(tables, 60)
describeInterleavings(tables, { numRuns: 12, leastOvertaken: 1, leastRefused: 1 })
