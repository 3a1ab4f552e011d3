import fc from 'fast-check'
import { fixedWindow, memoryStore, type Policy, slidingWindow, tokenBucket } from 'headgate'
import type { ChargeResult, Operation, Outcome, State, TakeResult } from 'headgate/store'

const START_MS = 1_790_000_000_000

/** What a ledger kept by hand says of units in use at a moment. */
interface Ledger {
  used(atMs: number): number
  add(units: number, atMs: number): void
}

/** A bucket: its units come back one after the other, at an even rate. */
function bucketLedger(intervalMs: number): Ledger {
  let owedMs = 0
  let lastMs = START_MS
  const pay = (atMs: number) => {
    owedMs = Math.max(0, owedMs - (atMs - lastMs))
    lastMs = atMs
  }
  return {
    used(atMs) {
      pay(atMs)
      return Math.ceil(owedMs / intervalMs - 1e-9)
    },
    add(units, atMs) {
      pay(atMs)
      owedMs += units * intervalMs
    },
  }
}

/** A window of the clock: its units come back together. */
function windowLedger(windowMs: number): Ledger {
  let index = 0
  let count = 0
  const turn = (atMs: number) => {
    const now = Math.floor(atMs / windowMs)
    if (now !== index) count = 0
    index = now
  }
  return {
    used(atMs) {
      turn(atMs)
      return count
    },
    add(units, atMs) {
      turn(atMs)
      count += units
    },
  }
}

const numbers = fc.record({
  limit: fc.integer({ min: 1, max: 30 }),
  debt: fc.integer({ min: 0, max: 30 }),
  windowMs: fc.integer({ min: 1, max: 50 }).map((n) => n * 64),
})

const POLICIES: Readonly<
  Record<string, (each: { limit: number; debt: number; windowMs: number }) => [Policy, Ledger]>
> = {
  tokenBucket({ limit, debt, windowMs }) {
    const policy = tokenBucket({ capacity: limit, refill: 16, every: `${windowMs}ms`, debt })
    return [policy, bucketLedger(windowMs / 16)]
  },
  fixedWindow({ limit, debt, windowMs }) {
    return [fixedWindow({ limit, debt, window: `${windowMs}ms` }), windowLedger(windowMs)]
  },
}

const steps = fc.array(
  fc.record({
    waitMs: fc.nat(300),
    units: fc.integer({ min: 1, max: 40 }),
    kind: fc.constantFrom('charge', 'take'),
  }),
  { maxLength: 40 },
)

describe.each(Object.entries(POLICIES))('with a debt, a %s', (_, create) => {
  test('agrees with a ledger kept by hand, in the policy and through a store', () => {
    fc.assert(
      fc.property(numbers, steps, (each, trace) => {
        const [policy, ledger] = create(each)
        let nowMs = START_MS
        const store = memoryStore({ clock: () => nowMs })
        const trades = trace.map(({ waitMs, units, kind }) => {
          nowMs += waitMs
          const used = ledger.used(nowMs)
          const operation: Operation =
            kind === 'take'
              ? { type: 'take', key: 'k', policy, units }
              : { type: 'charge', parts: [{ key: 'k', policy, cost: units }] }
          const [result] = store.apply([operation])
          const room = Math.max(0, each.limit + each.debt - used)
          const taken = kind === 'take' ? Math.min(units, room) : used + units <= each.limit ? units : 0
          ledger.add(taken, nowMs)
          const { remaining, debt = 0 } = policyStanding(store, policy)
          const after = ledger.used(nowMs)
          return {
            seen: { result: kind === 'take' ? takenIn(result) : allowedIn(result), remaining, debt },
            expected: {
              result: kind === 'take' ? taken : taken > 0,
              remaining: Math.max(0, each.limit - after),
              debt: Math.max(0, after - each.limit),
            },
          }
        })
        expect(trades.map(({ seen }) => seen)).toEqual(trades.map(({ expected }) => expected))
      }),
      { numRuns: 500 },
    )
  })

  test('says exactly when a charge that a debt denies is allowed again', () => {
    fc.assert(
      fc.property(
        numbers,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 30 }),
        (each, owed, cost) => {
          const [policy] = create(each)
          const { next } = policy.take(undefined, START_MS, Math.min(owed, each.limit + each.debt), true)
          const { allowed, retryAfterMs } = policy.take(next as State, START_MS, cost)
          if (allowed || retryAfterMs === Number.POSITIVE_INFINITY) return
          expect(policy.take(next, START_MS + retryAfterMs - 1, cost).allowed).toBe(false)
          expect(policy.take(next, START_MS + retryAfterMs, cost).allowed).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })
})

const takenIn = (result: Outcome | undefined) => (result as TakeResult).taken
const allowedIn = (result: Outcome | undefined) => (result as ChargeResult).allowed

function policyStanding(store: ReturnType<typeof memoryStore>, policy: Policy): TakeResult {
  return store.apply([{ type: 'take', key: 'k', policy, units: 0 }])[0] as TakeResult
}

test('a sliding window owes units until their slices leave the window', () => {
  const policy = slidingWindow({ limit: 10, window: '10s', debt: 5 })
  const { next } = policy.take(undefined, START_MS, 14, true)
  expect(policy.take(next, START_MS, 0)).toMatchObject({ remaining: 0, debt: 4 })
  const { retryAfterMs } = policy.take(next, START_MS, 1)
  expect(policy.take(next, START_MS + retryAfterMs - 1, 1).allowed).toBe(false)
  expect(policy.take(next, START_MS + retryAfterMs, 1).allowed).toBe(true)
  expect(policy.take(next, START_MS, 2, true).allowed).toBe(false)
})

test('without a debt, nothing is owed', () => {
  for (const policy of [
    tokenBucket({ capacity: 5, refill: 5, every: '1m' }),
    fixedWindow({ limit: 5, window: '1m' }),
    slidingWindow({ limit: 5, window: '1m' }),
  ]) {
    const { next } = policy.take(undefined, START_MS, 5)
    expect(policy.take(next, START_MS, 1, true).allowed).toBe(false)
  }
})
