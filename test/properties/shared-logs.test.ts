import fc from 'fast-check'
import { ban, memoryStore, type Policy, slidingLog } from 'headgate'
import { type CaseStep, expectAsModel, operationsOf } from '../../src/testing/conformance/as-model.js'

const window = '1s'
const bans = { after: 2, within: '1s', for: ['500ms', '1500ms'] } as const
/** States of 5 numbers, 7 (two limits), 9 and 24; as bans, four more. */
const LOGS = [1, 5, 6, 9, 40].map((limit) => slidingLog({ limit, window }))
const BANS = LOGS.map((log) => ban(log, bans))

interface Action {
  readonly type: 'charge' | 'take' | 'reward' | 'refund' | 'forget' | 'wait'
  readonly policy: number
  readonly owner: string
  readonly units: number
}

const actions = fc.array(
  fc.record<Action>({
    type: fc.constantFrom('charge', 'charge', 'charge', 'take', 'reward', 'refund', 'forget', 'wait'),
    policy: fc.nat(LOGS.length - 1),
    owner: fc.constantFrom('a', 'b'),
    units: fc.oneof(fc.nat(3), fc.nat(12)),
  }),
  { maxLength: 60, size: 'max' },
)

function stepOf(policies: readonly Policy[], { type, policy: at, owner, units }: Action): CaseStep {
  const operations = operationsOf(policies[at] as Policy)
  switch (type) {
    case 'wait':
      return { type: 'advance', ms: units * 90.25 }
    case 'refund':
      return (receipts) => {
        const receipt = receipts[units % Math.max(1, receipts.length)]
        return receipt === undefined ? [] : [receipt]
      }
    case 'charge':
      return operations.charge(units, owner)
    case 'forget':
      return operations.forget(owner)
    default:
      return operations[type](units, owner)
  }
}

test.each([
  ['logs', LOGS],
  ['bans of logs', BANS],
])('in memory, %s of several limits share a key, and each sees all of its units', async (_, policies) => {
  await fc.assert(
    fc.asyncProperty(actions, async (trace) => {
      let nowMs = 1_790_000_000_000.25
      const store = memoryStore({ clock: () => nowMs })
      const advance = (ms: number) => {
        nowMs += ms
      }
      await expectAsModel(
        { store, advance },
        trace.map((action) => stepOf(policies, action)),
        true,
      )
    }),
    { numRuns: 400 },
  )
})
