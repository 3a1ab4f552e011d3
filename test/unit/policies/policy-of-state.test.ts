import {
  ban,
  concurrency,
  consecutive,
  fixedWindow,
  type Policy,
  quota,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import type { State } from 'headgate/store'
import { policyOfState } from '../../../src/policies/policy-of-state.js'

const NOW_MS = 1_790_000_000_000
const withBan = (policy: Policy) => ban(policy, { after: 3, within: '1m', for: '1h' })

/** Pairs of policies of a kind. The first one writes a state, and the second one reads it. */
const PAIRS: readonly (readonly [writer: Policy, reader: Policy])[] = [
  [
    tokenBucket({ capacity: 100, refill: 10, every: '1m', debt: 5 }),
    tokenBucket({ capacity: 5, refill: 5, every: '1s' }),
  ],
  [
    tokenBucket({ capacity: 100, refill: 1e6, every: '1ms' }),
    tokenBucket({ capacity: 5, refill: 5, every: '1s' }),
  ],
  [
    slidingWindow({ limit: 5, window: '1h', slices: 12 }),
    slidingWindow({ limit: 9, window: '1m', slices: 3 }),
  ],
  [fixedWindow({ limit: 5, window: '1h' }), fixedWindow({ limit: 9, window: '1m' })],
  [
    fixedWindow({ limit: 5, window: '1h', startsAt: 'first-request' }),
    fixedWindow({ limit: 9, window: '1m', startsAt: 'first-request' }),
  ],
  [consecutive({ limit: 5 }), consecutive({ limit: 9 })],
]
const WITH_BANS = PAIRS.map(([writer, reader]) => [withBan(writer), withBan(reader)] as const)

const stateOf = (policy: Policy) => policy.take(undefined, NOW_MS, 2).next as State

test.each([...PAIRS, ...WITH_BANS].map(([writer, reader]) => [writer.spec, writer, reader] as const))(
  'a state has the numbers of %j',
  (spec, writer, reader) => {
    const state = stateOf(writer)
    const own = policyOfState(reader, state)
    expect(own?.spec).toEqual(spec)
    expect(own?.take(state, NOW_MS, 0)).toEqual(writer.take(state, NOW_MS, 0))
  },
)

test('a state of a quota is read as a window that ends with its period', () => {
  const writer = quota({ limit: 5, per: 'month', timeZone: 'Europe/Berlin', startsOn: 20 })
  const reader = quota({ limit: 1, per: 'day', debt: 2 })
  for (const wrap of [(policy: Policy) => policy, withBan]) {
    const state = stateOf(wrap(writer))
    const own = policyOfState(wrap(reader), state)
    const { next: _, ...figures } = wrap(writer).take(state, NOW_MS, 1)
    expect(own?.take(state, NOW_MS, 1)).toMatchObject(figures)
    expect(own).toMatchObject({ limit: 5, debt: 2 })
  }
  const banned = withBan(writer).block?.(undefined, NOW_MS, 1000) as State
  expect(policyOfState(withBan(reader), banned)?.take(banned, NOW_MS, 1)).toMatchObject({
    allowed: false,
    retryAfterMs: 1000,
  })
})

test('what a state does not have is as the policy that reads it says', () => {
  const held = stateOf(concurrency({ limit: 5, ttl: '10s' }))
  expect(policyOfState(concurrency({ limit: 9, ttl: '1m' }), held)?.spec).toEqual({
    kind: 'concurrency',
    limit: 9,
    ttlMs: 10_000,
  })
  const rules = { debt: 4, onChange: 'scale' } as const
  const counted = stateOf(fixedWindow({ limit: 5, window: '1h' }))
  expect(policyOfState(fixedWindow({ limit: 9, window: '1m', ...rules }), counted)?.spec).toEqual({
    kind: 'fixed-window',
    limit: 5,
    windowMs: 3_600_000,
    ...rules,
  })
})

test.each<[string, Policy, State]>([
  ['a limit of half a unit', fixedWindow({ limit: 5, window: '1h' }), [0.5, 60_000, 0, 1]],
  ['no numbers', consecutive({ limit: 5 }), []],
  ['more slices than milliseconds', slidingWindow({ limit: 5, window: '1h' }), [5, 1000, 2000, 0]],
])('no policy has a state with %s', (_, policy, state) => {
  expect(policyOfState(policy, state)).toBeUndefined()
})

test('a policy of an unknown kind stays as it is', () => {
  const policy = { ...consecutive({ limit: 5 }), spec: { kind: 'other', limit: 5 } } as unknown as Policy
  expect(policyOfState(policy, [9, 1])).toBe(policy)
})
