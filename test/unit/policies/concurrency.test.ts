import { ban, concurrency, type Policy } from 'headgate'
import type { State } from 'headgate/store'
import { prepaidOf } from '../../../src/policies/prepaid.js'

const NEVER = Number.POSITIVE_INFINITY
/** A slice is a second. */
const policy = concurrency({ limit: 3, ttl: '8s' })

/** Units that are held. */
interface Held {
  readonly cost: number
  readonly takenAtMs: number
  readonly resetAtMs: number
}

/** One key of a policy, as a store keeps it. */
function keyOf(of: Policy, kept?: State) {
  let state = kept
  return {
    take(atMs: number, cost = 1) {
      const { next, ...figures } = of.take(state, atMs, cost)
      state = next ?? state
      return { ...figures, held: { cost, takenAtMs: atMs, resetAtMs: atMs + figures.resetAfterMs } }
    },
    release(atMs: number, { cost, takenAtMs, resetAtMs }: Held) {
      state = state && of.refund(state, atMs, cost, takenAtMs, resetAtMs)
      return state
    },
    renew(atMs: number, held: Held): Held {
      const renewed = of.renew?.(state, atMs, held.cost, held.takenAtMs, held.resetAtMs) ?? []
      state = renewed
      return { ...held, resetAtMs: atMs + of.take(renewed, atMs, 0).resetAfterMs }
    },
    free: (atMs: number) => of.take(state, atMs, 0).remaining,
  }
}

test.each<[atMs: number, cost: number, allowed: boolean, left: number, resetMs: number, retryMs: number]>([
  [500, 0, true, 3, 0, 0],
  [500, 4, false, 3, 0, NEVER],
  [500, 1, true, 2, 8500, 0],
  [1999, 2, true, 0, 8001, 0],
  [2000, 1, false, 0, 8000, 1000],
  [8999, 1, false, 0, 1001, 1000],
  [9000, 2, false, 1, 1000, 1000],
  [9000, 1, true, 0, 9000, 0],
  [9999, 0, true, 0, 8001, 0],
  [10_000, 3, false, 2, 8000, 1000],
  [18_000, 3, true, 0, 9000, 0],
])('at %d ms, %d units: %p', (atMs, cost, allowed, remaining, resetAfterMs, retryAfterMs) => {
  const trace = [
    [500, 1],
    [1999, 2],
    [9000, 1],
  ] as const
  const key = keyOf(policy)
  for (const [earlierMs, units] of trace) if (earlierMs < atMs) key.take(earlierMs, units)
  const { held: _, ...figures } = key.take(atMs, cost)
  const moreAfterMs = resetAfterMs === 0 ? 0 : 1000
  expect(figures).toEqual({ allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs })
})

test('its state is the newest slice, and the units of each slice', () => {
  const { next } = policy.take(undefined, 1700, 2)
  expect(next).toEqual([1, 2, 0, 0, 0, 0, 0, 0, 0, 0])
  expect(policy.take(next, 4000, 1).next).toEqual([4, 1, 0, 0, 2, 0, 0, 0, 0, 0])
  expect(policy).toMatchObject({ name: '3-at-once', windowMs: NEVER, width: 10, ttlMs: 8000 })
  expect(prepaidOf(policy)).toBeUndefined()
})

test('a release frees what a charge holds, once, and all of it makes the key fresh', () => {
  const key = keyOf(policy)
  const [first, second] = [key.take(500).held, key.take(700, 2).held]
  expect(key.release(5000, first)).toEqual([0, 2, 0, 0, 0, 0, 0, 0, 0, 0])
  expect(key.free(5000)).toBe(1)
  expect(key.release(5000, { ...second, cost: 0 })).toBeDefined()
  expect(key.release(5000, second)).toBeUndefined()
  expect(key.release(5000, second)).toBeUndefined()
})

test('a release of units that time has freed leaves those of others alone', () => {
  const key = keyOf(policy)
  const { held } = key.take(500)
  key.take(9500)
  expect(key.free(9500)).toBe(2)
  key.release(9600, held)
  expect(key.free(9600)).toBe(2)
})

test('units that are renewed stay held, and are released from where the renewal has put them', () => {
  const key = keyOf(policy)
  let { held } = key.take(500)
  const { held: crashed } = key.take(500)
  for (const atMs of [3500, 7000, 10_500, 14_000]) held = key.renew(atMs, held)
  expect(key.free(8999)).toBe(2)
  expect(key.free(22_999)).toBe(2)
  expect(held).toMatchObject({ takenAtMs: 500, resetAtMs: 23_000 })
  key.release(14_100, crashed)
  expect(key.free(14_100)).toBe(2)
  expect(key.release(14_200, held)).toBeUndefined()
})

test('a renewal in the slice of the last one changes nothing', () => {
  const state = [3, 2, 0, 1, 0, 0, 0, 0, 0, 0]
  expect(policy.renew?.(state, 3900, 2, 500, 12_000)).toEqual(state)
})

test.each<[string, State | undefined]>([
  ['flushed', undefined],
  ['expired', [0, 2, 0, 0, 0, 0, 0, 0, 0, 0]],
  ['lost in part', [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]],
])('a renewal restores units that were lost: %s', (_how, state) => {
  const nowMs = state?.[1] === 1 ? 3500 : 20_500
  const key = keyOf(policy, state)
  const held = key.renew(nowMs, { cost: 2, takenAtMs: 500, resetAtMs: 9000 })
  expect(key.free(nowMs)).toBe(1)
  key.release(nowMs, held)
  expect(key.free(nowMs)).toBe(3)
})

test('units above the limit, which a renewal may restore, are counted', () => {
  const key = keyOf(policy)
  key.take(20_500, 3)
  key.renew(20_600, { cost: 2, takenAtMs: 500, resetAtMs: 9000 })
  const { allowed, remaining, held } = key.take(20_700)
  expect({ allowed, remaining }).toEqual({ allowed: false, remaining: 0 })
  key.release(20_800, { ...held, cost: 2 })
  expect(key.free(20_800)).toBe(0)
})

describe('after a step back of the clock', () => {
  test('units are held where the state is ahead, and released from there', () => {
    const key = keyOf(policy)
    key.take(20_500)
    const { held } = key.take(15_500)
    expect(held).toMatchObject({ takenAtMs: 15_500, resetAtMs: 29_000 })
    key.release(15_600, held)
    expect(key.free(15_600)).toBe(2)
  })

  test('a crashed process holds its units for a ttl longer at most', () => {
    const key = keyOf(policy)
    key.take(1_000_500, 3)
    expect(key.take(500)).toMatchObject({ allowed: false, resetAfterMs: 16_500 })
    expect(key.free(16_999)).toBe(0)
    expect(key.free(17_000)).toBe(3)
  })

  test('a denial clamps a state from a clock far ahead', () => {
    const state = [1000, 3, 0, 0, 0, 0, 0, 0, 0, 0]
    expect(policy.take(state, 500, 1).next).toEqual([8, 3, 0, 0, 0, 0, 0, 0, 0, 0])
    expect(policy.clampToNow(state, 992_000)).toBe(state)
  })
})

test('a share of it holds at least one unit for the same time', () => {
  expect(policy.scale(0.7).spec).toMatchObject({ limit: 2, ttlMs: 8000 })
  expect(policy.scale(0.1).spec).toMatchObject({ limit: 1, ttlMs: 8000 })
})

test('a ttl need not divide into slices of whole milliseconds', () => {
  const odd = concurrency({ limit: 1, ttl: 1003 })
  for (const takenAtMs of [1_790_000_000_000, 1_790_000_000_125.5, 1_790_000_000_376]) {
    const key = keyOf(odd)
    const { held } = key.take(takenAtMs)
    expect(held.resetAtMs - takenAtMs).toBeGreaterThanOrEqual(1003)
    expect(held.resetAtMs - takenAtMs).toBeLessThanOrEqual(1003 + 126.4)
    expect(key.free(held.resetAtMs - 1)).toBe(0)
    expect(key.free(held.resetAtMs)).toBe(1)
    expect(key.release(takenAtMs + 1, held)).toBeUndefined()
  }
})

test('the ttl is a minute by default', () => {
  expect(concurrency({ limit: 50 }).ttlMs).toBe(60_000)
})

test.each([
  [{ limit: 0 }, 'concurrency: limit must be a whole number of at least 1, got 0.'],
  [
    { limit: 5, ttl: '500ms' },
    'concurrency: ttl must be at least 1 second, got "500ms". Write ttl: \'30s\'.',
  ],
  [
    { limit: 5, ttl: 30 },
    'concurrency: ttl must be a string with a unit, or a number of at least 1000 milliseconds',
  ],
  [{ limit: 5, window: '1m' }, 'concurrency: there is no option "window". Write ttl instead.'],
])('%p is an error', (options, message) => {
  expect(() => concurrency(options as never)).toThrow(message)
})

test('a ban cannot count it', () => {
  const options = { after: 2, within: '1m', for: '1m' }
  expect(() => ban(policy, options)).toThrow('ban: policy must be a policy other than concurrency')
})
