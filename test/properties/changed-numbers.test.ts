import fc from 'fast-check'
import { consecutive, fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import type { State } from 'headgate/store'

/** Policies of one kind: the old numbers, and the new ones. */
interface Change {
  readonly before: Policy
  readonly after: Policy
}

const limit = fc.integer({ min: 1, max: 60 })
const window = fc.integer({ min: 20, max: 5000 })
const debt = fc.integer({ min: 0, max: 20 })
const slices = fc.integer({ min: 1, max: 12 })

function changeOf<Numbers>(numbers: fc.Arbitrary<Numbers>, create: (numbers: Numbers) => Policy) {
  return fc.tuple(numbers, numbers).map(([old, next]): Change => {
    return { before: create(old), after: create(next) }
  })
}

const bucketNumbers = fc.record({
  capacity: limit,
  refill: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1000, max: 5_000_000 })),
  every: fc.integer({ min: 1000, max: 60_000 }),
  debt,
})
const windowNumbers = fc.record({ limit, window, debt })

/** Kinds whose units stay in use until the state's own numbers give them back. */
const KEPT: Readonly<Record<string, fc.Arbitrary<Change>>> = {
  tokenBucket: changeOf(bucketNumbers, tokenBucket),
  fixedWindow: changeOf(windowNumbers, ({ window, ...rest }) =>
    fixedWindow({ ...rest, window: `${window}ms` }),
  ),
  'fixedWindow from the first request': changeOf(windowNumbers, ({ window, ...rest }) =>
    fixedWindow({ ...rest, window: `${window}ms`, startsAt: 'first-request' }),
  ),
  'slidingWindow of one window': fc
    .tuple(window, slices, fc.tuple(limit, debt), fc.tuple(limit, debt))
    .map(([windowMs, count, ...numbers]): Change => {
      const [before, after] = numbers.map(([most, owed]) =>
        slidingWindow({ limit: most, debt: owed, window: `${windowMs}ms`, slices: count }),
      ) as [Policy, Policy]
      return { before, after }
    }),
  consecutive: changeOf(fc.record({ limit }), consecutive),
}

const history = fc.array(
  fc.record({ waitMs: fc.nat(400), cost: fc.integer({ min: 1, max: 12 }), owes: fc.boolean() }),
  { maxLength: 30 },
)

const START_MS = 1_790_000_000_000

/** Charges and penalties under the old numbers. */
function stateAfter(policy: Policy, steps: readonly { waitMs: number; cost: number; owes: boolean }[]) {
  let nowMs = START_MS
  let state: State | undefined
  for (const { waitMs, cost, owes } of steps) {
    nowMs += waitMs
    state = policy.take(state, nowMs, cost, owes).next ?? state
  }
  return { state, nowMs }
}

/** The units in use, as whole ones: more than the limit if some are owed. */
function usedOf(policy: Policy, state: State | undefined, nowMs: number): number {
  const { remaining, debt: owed = 0 } = policy.take(state, nowMs, 0)
  return policy.limit - remaining + owed
}

describe.each(Object.entries(KEPT))('other numbers of a %s', (_, changes) => {
  test('leave what they would after the same usage, and not a unit more', () => {
    fc.assert(
      fc.property(changes, history, fc.nat(2000), ({ before, after }, steps, waitMs) => {
        const { state, nowMs } = stateAfter(before, steps)
        const atMs = nowMs + waitMs
        const used = usedOf(before, state, atMs)
        expect(after.take(state, atMs, 0).remaining).toBe(Math.max(0, after.limit - used))
        expect(usedOf(after, state, atMs)).toBe(used)
      }),
      { numRuns: 1000 },
    )
  })

  test('give an exact time to wait, and take turns without granting a unit', () => {
    fc.assert(
      fc.property(changes, history, fc.integer({ min: 1, max: 12 }), ({ before, after }, steps, cost) => {
        const { state, nowMs } = stateAfter(before, steps)
        const denied = after.take(state, nowMs, cost)
        if (denied.allowed || denied.retryAfterMs === Number.POSITIVE_INFINITY) return
        const kept = denied.next ?? state
        const wait = denied.retryAfterMs
        if (wait > 1) expect(after.take(kept, nowMs + wait - 1, cost).allowed).toBe(false)
        expect(after.take(kept, nowMs + wait, cost).allowed).toBe(true)
        const back = before.take(kept, nowMs, 0)
        const larger = Math.max(before.limit, after.limit)
        expect(back.remaining).toBeLessThanOrEqual(Math.max(0, larger - usedOf(after, state, nowMs)))
      }),
      { numRuns: 1000 },
    )
  })
})

test('another sliding window leaves no more than it would if it had counted the same units', () => {
  const numbers = fc.record({ limit, window, slices })
  const changes = changeOf(numbers, ({ window: windowMs, slices: count, limit: most }) => {
    const rows = { limit: most, window: `${windowMs}ms`, slices: Math.min(count, windowMs) }
    return slidingWindow(rows)
  })
  fc.assert(
    fc.property(changes, history, fc.nat(2000), ({ before, after }, steps, waitMs) => {
      const { state, nowMs } = stateAfter(before, steps)
      const atMs = nowMs + waitMs
      const { remaining } = after.take(state, atMs, 0)
      expect(remaining).toBeGreaterThanOrEqual(Math.max(0, after.limit - usedOf(before, state, atMs)))
      // What the new window would have counted, of the units that the old one still counts whole.
      const sliceMs = before.windowMs / Number((before.spec as { slices: number }).slices)
      const { slices: count } = after.spec as { slices: number }
      const unlimited = slidingWindow({ limit: 1e6, window: `${after.windowMs}ms`, slices: count })
      let mine: State | undefined
      let time = START_MS
      let old: State | undefined
      for (const { waitMs: each, cost } of steps) {
        time += each
        const step = before.take(old, time, cost)
        old = step.next ?? old
        if (step.allowed && time > atMs - before.windowMs + sliceMs)
          mine = unlimited.take(mine, time, cost).next ?? mine
      }
      const counted = usedOf(unlimited, mine, atMs)
      expect(remaining).toBeLessThanOrEqual(Math.max(0, after.limit - counted))
    }),
    { numRuns: 1000 },
  )
})

describe('with onChange: scale', () => {
  const SCALED: Readonly<Record<string, (most: number) => Policy>> = {
    tokenBucket: (most) => tokenBucket({ capacity: most, refill: most, every: '1h', onChange: 'scale' }),
    fixedWindow: (most) => fixedWindow({ limit: most, window: '10h', onChange: 'scale' }),
    slidingWindow: (most) => slidingWindow({ limit: most, window: '10h', onChange: 'scale' }),
    consecutive: (most) => consecutive({ limit: most, onChange: 'scale' }),
  }
  test.each(Object.entries(SCALED))('the same share of a %s stays in use, rounded up', (_, create) => {
    fc.assert(
      fc.property(limit, limit, fc.nat(60), (old, next, units) => {
        const cost = Math.min(units, old)
        const { next: state } = create(old).take(undefined, START_MS, cost)
        const used = usedOf(create(next), state, START_MS)
        expect(used).toBe(cost === 0 ? 0 : Math.ceil((cost * next) / old - 1e-9))
      }),
    )
  })
})

test('with 100 of 100 used, a limit of 50 leaves 0, and one of 1000 leaves 900', () => {
  for (const create of [
    (most: number) => tokenBucket({ capacity: most, refill: most, every: '1h' }),
    (most: number) => fixedWindow({ limit: most, window: '1h' }),
    (most: number) => slidingWindow({ limit: most, window: '1h' }),
    (most: number) => consecutive({ limit: most }),
  ]) {
    const { next } = create(100).take(undefined, START_MS, 100)
    expect(create(50).take(next, START_MS, 0).remaining).toBe(0)
    expect(create(1000).take(next, START_MS, 0).remaining).toBe(900)
  }
})
