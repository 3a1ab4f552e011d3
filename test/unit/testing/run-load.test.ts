import { memoryStore } from 'headgate'
import { customStore, type Operation, type Outcome, type Store, StoreError } from 'headgate/store'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeOf, type Load } from '../../../src/testing/exactness/protocol.js'
import { runLoad } from '../../../src/testing/exactness/run-load.js'

const charges: Load['charges'] = ['a', 'b', 'c'].map((key) => [
  { key, policy: 'fixedWindow', limit: 10, cost: 1 },
])
const load: Load = { charges, callers: 2, calls: 4, batch: 3, refundEvery: 0 }

/** A store in which every fifth operation fails before it is applied. */
function failingStore(
  memory: Store,
  facts: { readonly replied?: boolean; readonly unsent?: boolean },
): Store {
  let count = 0
  const apply = async (operation: Operation): Promise<Outcome> => {
    if (++count % 5 === 0) return new StoreError('failing', 'lost a race', facts)
    const [outcome] = await memory.apply([operation])
    return outcome as Outcome
  }
  return customStore({ name: 'failing', apply: (operations) => Promise.all(operations.map(apply)) })
}

test.each([{ replied: true }, { unsent: true }])(
  'a charge that fails within a batch is repeated alone, so that what is counted was taken: %p',
  async (facts) => {
    const memory = memoryStore()
    const counts = await runLoad(failingStore(memory, facts), load)
    expect(counts).toEqual({ allowed: 24, denied: 0, taken: { a: 8, b: 8, c: 8 } })
    for (const { key, policy } of charges.flatMap(chargeOf))
      expect(await remainingOf(memory, policy, [key])).toEqual([2])
  },
)

test('a charge with an unknown outcome ends the load, and is not repeated', async () => {
  await expect(runLoad(failingStore(memoryStore(), {}), load)).rejects.toThrow('failing: lost a race')
})
