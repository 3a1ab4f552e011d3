import { fixedWindow } from 'headgate'
import {
  beforeEachLease,
  chargeTimes,
  HOLD_MS,
  leasedCount,
  leaseOn,
  RemoteStore,
} from '../../../support/leased-store.js'

const MAX_KEYS = 10_000
const hourly = fixedWindow({ limit: 3200, window: '1h' })

beforeEachLease()

test('units of at most 10,000 keys are leased at once, and those of others once these are no longer used', async () => {
  const remote = new RemoteStore()
  const store = leaseOn(remote)
  /** Charges keys often enough for a lease. Returns how many of them consumed leased units. */
  async function chargeKeys(name: string, count: number): Promise<number> {
    const chargeEach = async (cost: number) => {
      const keys = Array.from({ length: count }, (_, i) => `${name}-${i}`)
      return (await Promise.all(keys.map((key) => chargeTimes(store, hourly, 1, cost, key)))).flat()
    }
    for (const cost of [8, 1]) await chargeEach(cost)
    return leasedCount(await chargeEach(1))
  }
  expect(await chargeKeys('first', MAX_KEYS + 50)).toBe(MAX_KEYS)
  expect(await chargeKeys('second', 50)).toBe(0)
  remote.nowMs += 4 * HOLD_MS
  await jest.advanceTimersByTimeAsync(4 * HOLD_MS)
  expect(await chargeKeys('third', 50)).toBe(50)
}, 180_000)
