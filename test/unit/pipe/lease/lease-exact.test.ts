import fc from 'fast-check'
import { fixedWindow, type Policy, type Store, slidingWindow, tokenBucket } from 'headgate'
import type { ChargeResult, State } from 'headgate/store'
import { shareUpTo } from '../../../properties/arbitrary-policies.js'
import {
  allowedCount,
  beforeEachLease,
  chargeHundred,
  chargeTimes,
  leasedCount,
  leaseOn,
  RemoteStore,
  START_MS,
} from '../../../support/leased-store.js'

const PROCESSES = 3

const policies = fc
  .record({ limit: fc.integer({ min: 150, max: 600 }), window: fc.integer({ min: 50, max: 1000 }) })
  .chain(({ limit, window }) =>
    fc.constantFrom<Policy>(
      tokenBucket({ capacity: limit, refill: limit, every: `${window}ms` }),
      slidingWindow({ limit, window: `${window}ms` }),
      fixedWindow({ limit, window: `${window}ms` }),
    ),
  )

/**
 * One process makes several charges at once, `afterMs` after the last ones. Sometimes another process takes
 * all that is left just before.
 */
const burst = fc.record({
  who: fc.nat({ max: PROCESSES - 1 }),
  times: fc.integer({ min: 1, max: 40 }),
  cost: fc.constantFrom(1, 1, 1, 2, 5),
  isDrained: fc.boolean(),
  afterMs: fc.oneof(fc.constant(0), shareUpTo(20), fc.nat({ max: 150 })),
})
const bursts = fc.array(burst, { minLength: 20, maxLength: 60, size: 'max' })

beforeEachLease()

test('the policy would have admitted whatever processes with leases admit, at the same moments', async () => {
  let leasedTotal = 0
  await fc.assert(
    fc.asyncProperty(policies, bursts, async (policy, trace) => {
      const remote = new RemoteStore()
      const stores = Array.from({ length: PROCESSES }, () => leaseOn(remote, { processes: PROCESSES }))
      let used: State | undefined
      const admit = ({ allowed, source }: ChargeResult, cost: number) => {
        if (!allowed) return
        if (source === 'lease') leasedTotal++
        const step = policy.take(used, remote.nowMs, cost)
        expect(step.allowed).toBe(true)
        used = step.next ?? used
      }
      for (const { who, times, cost, isDrained, afterMs } of trace) {
        remote.nowMs += afterMs
        await jest.advanceTimersByTimeAsync(afterMs)
        if (isDrained) {
          const left = remote.remaining(policy)
          for (const verdict of await chargeTimes(remote, policy, 1, left)) admit(verdict, left)
        }
        for (const verdict of await chargeTimes(stores[who] as Store, policy, times, cost))
          admit(verdict, cost)
      }
    }),
    { numRuns: 25 },
  )
  expect(leasedTotal).toBeGreaterThan(100)
})

/**
 * Returns how many units more than 3,200 a full bucket yields, after a batch with a block was decided by two
 * scripts.
 */
async function overAfterSplit(splitsAt: number): Promise<number> {
  const policy = tokenBucket({ capacity: 3200, refill: 3200, every: 3200 })
  const remote = new RemoteStore()
  const store = leaseOn(remote, { holdMs: 2000 })
  await chargeTimes(store, policy, 300)
  remote.nowMs += 700
  remote.splitsAt = splitsAt
  await chargeTimes(store, policy, 214)
  remote.splitsAt = Number.POSITIVE_INFINITY
  remote.nowMs += 3200 - remote.remaining(policy)
  expect(remote.remaining(policy)).toBe(3200)
  let taken = allowedCount(await chargeTimes(remote, policy, 1, 3200)) * 3200
  for (;;) {
    const [verdict] = await chargeTimes(store, policy, 1)
    if (!verdict?.allowed) return taken - 3200
    taken++
  }
}

test('a block whose batch was decided at two moments admits no more', async () => {
  const over: number[] = []
  for (let splitsAt = 0; splitsAt < 20; splitsAt++) over.push(await overAfterSplit(splitsAt))
  expect(Math.max(...over)).toBe(0)
})

/** Charges one unit after the other until one is denied. Returns the verdicts of those that were allowed. */
async function chargeAll(store: Store, policy: Policy): Promise<ChargeResult[]> {
  const verdicts: ChargeResult[] = []
  for (;;) {
    const [verdict] = await chargeTimes(store, policy, 1)
    if (!verdict?.allowed) return verdicts
    verdicts.push(verdict)
  }
}

test('of a block that is refilled unit by unit, no more is used than the bucket still misses', async () => {
  const policy = tokenBucket({ capacity: 3200, refill: 3200, every: 3200 })
  const taken: number[] = []
  const leasedCounts: number[] = []
  for (let missing = 1; missing <= 100; missing++) {
    const remote = new RemoteStore()
    const store = leaseOn(remote, { holdMs: 2000 })
    await chargeHundred(store, policy)
    remote.nowMs += 3200 - remote.remaining(policy) - missing
    expect(allowedCount(await chargeTimes(remote, policy, 1, 3200 - missing))).toBe(1)
    const verdicts = await chargeAll(store, policy)
    taken.push(3200 - missing + verdicts.length)
    leasedCounts.push(leasedCount(verdicts))
  }
  expect(Math.max(...taken)).toBe(3200)
  expect(Math.min(...leasedCounts)).toBeGreaterThan(0)
})

describe.each<[string, Policy]>([
  ['fixedWindow', fixedWindow({ limit: 800, window: 1000 })],
  ['slidingWindow', slidingWindow({ limit: 800, window: 1000, slices: 1 })],
])('around the border between two windows of a %s', (_name, policy) => {
  const BORDER_MS = START_MS + 1000

  /**
   * Leases just before the border. Calls `cross`, which charges and lets the border pass, and then takes all
   * that is left.
   */
  async function admittedAcross(
    cross: (remote: RemoteStore, store: Store) => Promise<readonly ChargeResult[]>,
  ): Promise<readonly ChargeResult[]> {
    const remote = new RemoteStore()
    remote.nowMs = BORDER_MS - 1
    const store = leaseOn(remote)
    const verdicts = [await chargeHundred(store, policy), await cross(remote, store)]
    expect(remote.nowMs).toBe(BORDER_MS)
    verdicts.push(await chargeAll(store, policy))
    return verdicts.flat().filter((verdict) => verdict.allowed)
  }

  function expectAdmittedByPolicy(verdicts: readonly ChargeResult[]): void {
    let used: State | undefined
    let over = 0
    for (const { atMs } of verdicts) {
      const step = policy.take(used, atMs, 1)
      if (!step.allowed) over++
      used = step.next ?? used
    }
    expect(over).toBe(0)
    expect(policy.take(used, BORDER_MS, 1).allowed).toBe(false) // nothing is lost, either
  }

  test('units of a batch that is decided half before it and half after it count each in its own window', async () => {
    let leasedTotal = 0
    for (let splitsAt = 1; splitsAt <= 5; splitsAt++) {
      const verdicts = await admittedAcross(async (remote, store) => {
        remote.splitsAt = splitsAt
        const across = await chargeTimes(store, policy, 60)
        remote.splitsAt = Number.POSITIVE_INFINITY
        remote.nowMs = BORDER_MS
        return across
      })
      expectAdmittedByPolicy(verdicts)
      leasedTotal += leasedCount(verdicts)
    }
    expect(leasedTotal).toBeGreaterThan(0)
  })

  test('units that were acquired before it are not used after it', async () => {
    const verdicts = await admittedAcross(async (remote) => {
      const held = 800 - remote.remaining(policy) - 100
      expect(held).toBeGreaterThan(1)
      remote.nowMs = BORDER_MS
      return []
    })
    expectAdmittedByPolicy(verdicts)
  })
})
