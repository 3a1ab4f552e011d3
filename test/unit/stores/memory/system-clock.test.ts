import { ban, fixedWindow, quota } from 'headgate'
import type { State } from 'headgate/store'
import { systemClock } from '../../../../src/stores/memory/system-clock.js'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-04-15T23:00Z')
const daily = quota({ limit: 5, per: 'day' })

/** A store's clock, and a system clock that is ahead of it. */
function clocks() {
  const at = { storeMs: NOW_MS, aheadMs: 2 * 3_600_000 }
  const { policyOf, operationOf } = systemClock(
    () => at.storeMs,
    () => at.storeMs + at.aheadMs,
  )
  return { at, policyOf, operationOf }
}

test('a quota is decided by the system clock, every other policy by the clock of the store', () => {
  const { policyOf } = clocks()
  expect(policyOf(daily).take(undefined, NOW_MS, 1)).toMatchObject({
    resetAfterMs: DAY_MS - 3_600_000,
    next: [1, Date.parse('2026-04-16T01:00Z')],
  })
  const window = fixedWindow({ limit: 5, window: '1d' })
  expect(policyOf(window)).toBe(window)
  expect(policyOf(daily)).toBe(policyOf(daily))
})

test('times of an earlier charge are moved alike', () => {
  const policy = clocks().policyOf(daily)
  const { next } = policy.take(undefined, NOW_MS, 3)
  expect(policy.refund(next as State, NOW_MS + 5, 1, NOW_MS, NOW_MS + DAY_MS)).toEqual([
    2,
    Date.parse('2026-04-16T01:00Z'),
  ])
  expect(policy.refund(next as State, NOW_MS + 5, 1, NOW_MS - 3_600_001)).toEqual(next)
  expect(policy.reward(next as State, NOW_MS, 3)).toBeUndefined()
  expect(policy.clampToNow(next, NOW_MS)).toBe(next)
})

test('a ban of a quota is decided by the system clock', () => {
  const policy = clocks().policyOf(ban(daily, { after: 1, within: '1h', for: '1h' }))
  const banned = policy.block?.(undefined, NOW_MS, 1000)
  expect(banned?.at(-1)).toBe(NOW_MS + 2 * 3_600_000 + 1000)
  expect(policy.bannedForMs?.(banned as State, NOW_MS + 400)).toBe(600)
})

test('a step of the system clock is noticed within a tenth of a second', () => {
  const { at, policyOf } = clocks()
  const policy = policyOf(daily)
  const resetAt = (storeMs: number) => {
    at.storeMs = storeMs
    return policy.take(undefined, storeMs, 1).resetAfterMs
  }
  expect(resetAt(NOW_MS)).toBe(DAY_MS - 3_600_000)
  at.aheadMs = 0
  expect(resetAt(NOW_MS + 99)).toBe(DAY_MS - 3_600_000 - 99)
  expect(resetAt(NOW_MS + 100)).toBe(3_600_000 - 100)
})

test('operations get such policies, and others stay as they are', () => {
  const { operationOf, policyOf } = clocks()
  const window = fixedWindow({ limit: 5, window: '1d' })
  const part = { key: 'a', policy: window, cost: 1 }
  const charge = { type: 'charge', parts: [part] } as const
  const take = { type: 'take', key: 'a', policy: window, units: 1 } as const
  expect(operationOf(charge)).toBe(charge)
  expect(operationOf(take)).toBe(take)
  expect(operationOf({ ...charge, parts: [part, { ...part, policy: daily }] })).toEqual({
    ...charge,
    parts: [part, { ...part, policy: policyOf(daily) }],
  })
  expect(operationOf({ ...take, policy: daily })).toEqual({ ...take, policy: policyOf(daily) })
})
