import { fixedWindow } from '../../policies/fixed-window.js'
import { expectAtLeast, expectEqual } from '../assertions.js'
import type { TestCase } from '../test-case.js'
import { LONG } from './sample-policies.js'
import { chargeOne, part, remainingOf } from './store-calls.js'
import { type ConformanceSetup, type StoreUnderTest, withStore } from './store-under-test.js'

const POLICY = fixedWindow({ limit: 5, window: LONG })

/** The set-up: if it does not do what it says, other tests fail for reasons that are hard to see. */
export function setupCases(setup: ConformanceSetup): TestCase[] {
  const { settableClock } = setup.capabilities

  async function advanceClock({ store, advance }: StoreUnderTest): Promise<void> {
    const now = async () => (await chargeOne(store, part('clock', POLICY, 0))).atMs
    const startMs = await now()
    if (settableClock) expectEqual('a settable clock stands still between two calls', await now(), startMs)
    await advance(250)
    const passedMs = (await now()) - startMs
    if (settableClock) expectEqual('milliseconds after advance(250)', passedMs, 250)
    else expectAtLeast('milliseconds after advance(250)', passedMs, 250)
  }

  async function makeTwice(): Promise<void> {
    await withStore(setup, async ({ store }) => void (await chargeOne(store, part('key', POLICY, 5))))
    await withStore(setup, async ({ store }) => {
      const what = "remaining in a new store, of a key that an earlier test's store has charged"
      expectEqual(what, await remainingOf(store, POLICY, ['key']), [5])
    })
  }

  return [
    { name: 'makeStore makes empty stores', run: makeTwice },
    { name: 'advance lets time pass by the clock of the store', run: () => withStore(setup, advanceClock) },
  ]
}
