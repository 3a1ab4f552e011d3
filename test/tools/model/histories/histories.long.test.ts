import { resolve } from 'node:path'
import { type Bundle, bundle } from '../../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../../support/servers/install.js'
import { LOSSY_STORES, tallyLosses } from './losses.js'
import { tallyHistories, textOf } from './main.js'
import { PROGRAM } from './record.js'
import { TARGETS } from './targets.js'

/** Including about a second in which the callers start. */
const RECORDING_MS = 4000
const LOSING_MS = 10_000
const STORES = Object.keys(TARGETS)

let callers: Bundle

beforeAll(async () => {
  callers = await bundle(resolve(PROGRAM))
}, INSTALL_TIMEOUT_MS)

afterAll(() => callers?.remove())

test.each(STORES)(
  'on %s, the calls of three processes can be put in an order that explains their results',
  async (name) => {
    const untilMs = Date.now() + RECORDING_MS
    const tally = await tallyHistories(name, Date.now() % 1e9, untilMs, callers.path)
    expect(tally.violations.map(textOf)).toEqual([])
    expect(tally).toMatchObject({ undecided: 0, unknown: 0 })
    expect(tally.operations).toBeGreaterThan(5000)
    expect(tally.leased > 0).toBe(name === 'leased Redis')
  },
  INSTALL_TIMEOUT_MS,
)

test.each(LOSSY_STORES)(
  'on %s, no charge is counted twice, and no other call either, when connections are lost',
  async (name) => {
    const untilMs = Date.now() + LOSING_MS
    const tally = await tallyLosses(name, Date.now() % 1e9, untilMs, callers.path)
    expect(tally.violations.map(textOf)).toEqual([])
    expect(tally.countedTwice).toBe(0)
    expect(tally.losses).toBeGreaterThan(0)
    expect(tally.charges).toBeGreaterThan(500)
  },
  INSTALL_TIMEOUT_MS,
)
