import { ban, createLimiter, memoryStore, type Policy, quota } from 'headgate'
import type { State } from 'headgate/store'
import { isPolicy, signatureOf } from '../../../src/policies/policy.js'
import { policyFromSpec } from '../../../src/policies/policy-from-spec.js'
import { prepaidOf } from '../../../src/policies/prepaid.js'
import { keyCodeOf } from '../../../src/policies/spec.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const berlin = quota({ limit: 10, per: 'month', timeZone: 'Europe/Berlin' })

/** A charge, and what comes of it. */
type Row = readonly [
  at: string,
  cost: number,
  allowed: boolean,
  left: number,
  resetMs: number,
  retryMs: number,
]

/** Checks the charges of a client in order. Returns the state that they leave. */
function expectCharges(policy: Policy, rows: readonly Row[]): State | undefined {
  let state: State | undefined
  for (const [at, cost, allowed, remaining, resetAfterMs, retryAfterMs] of rows) {
    const { next, ...figures } = policy.take(state, Date.parse(at), cost)
    const expected = { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs: resetAfterMs }
    expect({ at, ...figures }).toEqual({ at, ...expected })
    state = next ?? state
  }
  return state
}

test('a quota comes back at midnight in its time zone, to the millisecond', () => {
  const state = expectCharges(berlin, [
    ['2026-03-01T00:00+01:00', 7, true, 3, 31 * DAY_MS - HOUR_MS, 0], // the clock is set forward on the 29th
    ['2026-03-31T23:59:59.999+02:00', 4, false, 3, 1, 1],
    ['2026-03-31T23:59:59.999+02:00', 0, true, 3, 1, 0],
    ['2026-04-01T00:00+02:00', 4, true, 6, 30 * DAY_MS, 0],
    ['2026-04-01T00:00+02:00', 11, false, 6, 30 * DAY_MS, Number.POSITIVE_INFINITY],
  ])
  expect(state).toEqual([4, Date.parse('2026-04-01T00:00+02:00')])
})

test('a day has as many hours as on the wall', () => {
  const daily = quota({ limit: 1, per: 'day', timeZone: 'Europe/Berlin' })
  for (const [midnight, hours] of [
    ['2026-03-28T00:00+01:00', 24],
    ['2026-03-29T00:00+01:00', 23],
    ['2026-10-25T00:00+02:00', 25],
  ] as const)
    expect(daily.take(undefined, Date.parse(midnight), 1).resetAfterMs).toBe(hours * HOUR_MS)
})

test('a billing day on the 31st is the last day of shorter months', () => {
  const billed = quota({ limit: 10, per: 'month', startsOn: 31 })
  expectCharges(billed, [
    ['2026-01-31T00:00Z', 10, true, 0, 28 * DAY_MS, 0],
    ['2026-02-27T23:59:59.999Z', 1, false, 0, 1, 1],
    ['2026-02-28T00:00Z', 10, true, 0, 31 * DAY_MS, 0],
    ['2026-03-30T23:59:59.999Z', 1, false, 0, 1, 1],
    ['2026-03-31T00:00Z', 1, true, 9, 30 * DAY_MS, 0],
  ])
})

const april = Date.parse('2026-04-01T00:00+02:00')
const inApril = (count: number): State => [count, april]

test('a refund reaches only the period in which the units were taken', () => {
  expect(berlin.refund(inApril(4), april + 5, 3, april)).toEqual(inApril(1))
  expect(berlin.refund(inApril(4), april + 5, 4, april + 30 * DAY_MS - 1)).toBeUndefined()
  for (const takenAtMs of [april - 1, april + 30 * DAY_MS])
    expect(berlin.refund(inApril(4), april + 5, 3, takenAtMs)).toEqual(inApril(4))
})

test('after a step back over the end of a period, the state keeps counting in the later one', () => {
  expect(berlin.take(inApril(10), april - 1, 1)).toMatchObject({
    allowed: false,
    retryAfterMs: 30 * DAY_MS + 1,
    next: undefined,
  })
})

test('a denial clamps a state from a clock far ahead to the next period, whose length it has then', () => {
  const ahead: State = [10, Date.parse('2031-05-01T00:00+02:00')]
  const { next, retryAfterMs } = berlin.take(ahead, april - 5 * DAY_MS, 1)
  expect(next).toEqual(inApril(10))
  expect(retryAfterMs).toBe(35 * DAY_MS)
})

describe('a change of numbers', () => {
  const nowMs = Date.parse('2026-04-15T12:00Z')

  test('keeps the count of a day in the month, and that of the month in the day', () => {
    const daily = quota({ limit: 5, per: 'day' })
    const monthly = quota({ limit: 100, per: 'month' })
    const ofDay = daily.take(undefined, nowMs, 4).next
    expect(ofDay).toEqual([4, nowMs])
    expect(monthly.take(ofDay, nowMs + 1, 1).next).toEqual([5, nowMs + 1])
    const ofMonth = monthly.take(undefined, nowMs, 80).next
    const denied = daily.take(ofMonth, nowMs, 1)
    expect(denied).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: DAY_MS / 2 })
    const startsAtMs = Date.parse('2026-04-16')
    expect(daily.take(denied.next, startsAtMs, 1).next).toEqual([1, startsAtMs])
  })

  test('carries a count to the calendar of another zone or day', () => {
    const state = quota({ limit: 5, per: 'month' }).take(undefined, nowMs, 4).next
    const moved = quota({ limit: 5, per: 'month', startsOn: 10, timeZone: 'America/New_York' })
    expect(moved.take(state, nowMs, 1)).toMatchObject({ remaining: 0, next: [5, nowMs] })
    expect(moved.take(state, Date.parse('2026-05-10T00:00-04:00'), 0).remaining).toBe(5)
  })
})

test('adjustments may take up to debt units more than the limit, until the period ends', () => {
  const owing = quota({ limit: 5, per: 'day', debt: 3 })
  const nowMs = Date.parse('2026-04-15T12:00Z')
  const { next } = owing.take(undefined, nowMs, 8, true)
  expect(owing.take(next, nowMs, 0)).toMatchObject({ remaining: 0, debt: 3, resetAfterMs: DAY_MS / 2 })
  expect(owing.take(next, nowMs, 1)).toMatchObject({ allowed: false, retryAfterMs: DAY_MS / 2 })
  expect(owing.take(undefined, nowMs, 6)).toMatchObject({ allowed: false })
  expect(owing.take(next, nowMs + DAY_MS / 2, 1)).toMatchObject({ allowed: true, remaining: 4 })
})

test('prepaid units may be used in their period, and returned at any time', () => {
  const prepaid = prepaidOf(berlin)
  expect(prepaid?.usable(5, april + 1, april, april)).toBe(5)
  expect(prepaid?.usable(5, april, april - 1, april)).toBe(0)
  expect(prepaid?.returnable(5, april, 1000, april)).toBe(5)
})

describe('as data', () => {
  const policies: readonly (readonly [Policy, signature: string, keyCode: string])[] = [
    [quota({ limit: 5, per: 'day' }), 'quota-5@day@UTC', 'qt'],
    [quota({ limit: 5, per: 'week', debt: 2 }), 'quota-5-2@week-monday@UTC', 'qt'],
    [
      quota({ limit: 5, per: 'month', startsOn: 15, timeZone: 'America/Port-au-Prince' }),
      'quota-5@month-15@America/Port-au-Prince',
      'qt',
    ],
    [
      quota({ limit: 5, per: 'year', startsOn: '04-01', timeZone: '-03:30', onChange: 'reset' }),
      'quota-5-0-1@year-04-01@-03:30',
      'qt-quota-5-0-1@year-04-01@-03:30',
    ],
    [
      ban(quota({ limit: 5, per: 'day' }), { after: 2, within: '1m', for: '1m' }),
      'ban-quota-5@day@UTC-2-60000-nothing-60000',
      'bqt',
    ],
  ]

  test.each(policies)('the spec, the signature and the keys of policy %#', (policy, signature, keyCode) => {
    expect(signatureOf(policy)).toBe(signature)
    expect(keyCodeOf(policy.spec)).toBe(keyCode)
    expect(policyFromSpec(JSON.parse(JSON.stringify(policy.spec))).spec).toEqual(policy.spec)
    expect(Object.isFrozen(policy.spec)).toBe(true)
    expect(policy.name).toMatch(/^5-per-(day|week|month|year)$/)
  })

  test('a spec without periods is none', () => {
    const { timeZone: _, ...spec } = { ...berlin.spec } as Record<string, unknown>
    expect(isPolicy(berlin)).toBe(true)
    expect(isPolicy({ ...berlin, spec })).toBe(false)
  })

  test('a share of a quota has the same periods', () => {
    expect(berlin.scale(0.25).spec).toEqual({ ...berlin.spec, limit: 2 })
  })
})

describe('a day for each subject', () => {
  interface Account {
    readonly id: string
    readonly billingDay: number
  }
  const byBillingDay = quota({ limit: 2, per: 'month', startsOn: ({ billingDay }: Account) => billingDay })

  test('subjects of one day share a policy', () => {
    const [a, b, c] = [5, 5, 6].map((billingDay) => byBillingDay({ id: 'x', billingDay }))
    expect(a).toBe(b)
    expect(a).not.toBe(c)
    expect(a).toMatchObject({ name: '2-per-month', spec: { startsOn: 5, timeZone: 'UTC' } })
  })

  test('a limiter decides each subject by its own month', async () => {
    const store = memoryStore({ clock: () => Date.parse('2026-04-15T12:00Z') })
    const limiter = createLimiter({ store, policy: byBillingDay, key: ({ id }: Account) => id })
    const resetsAfter = async (account: Account) => (await limiter.charge(account)).resetAfterMs / DAY_MS
    expect(await resetsAfter({ id: 'a', billingDay: 16 })).toBe(0.5)
    expect(await resetsAfter({ id: 'b', billingDay: 15 })).toBe(29.5)
    expect(await resetsAfter({ id: 'a', billingDay: 20 })).toBe(4.5)
    expect(await limiter.charge({ id: 'a', billingDay: 20 })).toMatchObject({ allowed: false })
  })

  test('the function may be async, and a wrong day is an error', async () => {
    const later = quota({ limit: 2, per: 'week', startsOn: async (day: 'friday') => day })
    await expect(later('friday')).resolves.toMatchObject({ spec: { startsOn: 'friday' } })
    await expect(later('Friday' as 'friday')).rejects.toThrow("quota: startsOn must be one of 'monday', ")
    expect(() => byBillingDay({ id: 'a', billingDay: 0 })).toThrow(
      new TypeError('quota: startsOn must be a whole number from 1 to 31, got 0. Did you mean startsOn: 1?'),
    )
  })
})

test('a decision has the length of its period, as draft headers do', async () => {
  for (const [at, lengthMs] of [
    ['2026-02-10T12:00Z', 28 * DAY_MS],
    ['2026-03-10T12:00Z', 31 * DAY_MS - HOUR_MS],
    ['2026-10-10T12:00Z', 31 * DAY_MS + HOUR_MS],
  ] as const) {
    const store = memoryStore({ clock: () => Date.parse(at) })
    const limiters = [
      createLimiter({ store, policy: berlin, key: (id: string) => id, name: 'one' }),
      createLimiter({ store, limits: [{ policy: berlin, key: (id: string) => id }], name: 'listed' }),
    ]
    for (const limiter of limiters)
      expect((await limiter.charge('a')).parts).toMatchObject([{ windowMs: lengthMs }])
  }
})
