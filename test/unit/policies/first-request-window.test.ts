import { fixedWindow } from 'headgate'
import type { State } from 'headgate/store'

const policy = fixedWindow({ limit: 3, window: '1s', startsAt: 'first-request' })

/** A charge of a client, and what comes of it. */
type Row = [
  client: string,
  atMs: number,
  cost: number,
  allowed: boolean,
  left: number,
  resetMs: number,
  retryMs: number,
]

const NEVER = Number.POSITIVE_INFINITY

test.each<[string, readonly Row[]]>([
  [
    'a window lasts its length from the first charge, whatever the clock shows',
    [
      ['a', 1700, 1, true, 2, 1000, 0],
      ['a', 2100, 1, true, 1, 600, 0],
      ['a', 2699, 1, true, 0, 1, 0],
      ['a', 2699, 1, false, 0, 1, 1],
      ['a', 2700, 1, true, 2, 1000, 0],
    ],
  ],
  [
    'the first charge after the end begins the next window, however late it comes',
    [
      ['a', 0, 3, true, 0, 1000, 0],
      ['a', 1450, 2, true, 1, 1000, 0],
      ['a', 2000, 2, false, 1, 450, 450],
      ['a', 2449, 2, false, 1, 1, 1],
      ['a', 2450, 2, true, 1, 1000, 0],
    ],
  ],
  [
    'two clients have windows that begin and end at different times',
    [
      ['a', 1000, 3, true, 0, 1000, 0],
      ['b', 1600, 3, true, 0, 1000, 0],
      ['a', 1999, 1, false, 0, 1, 1],
      ['b', 1999, 1, false, 0, 601, 601],
      ['a', 2000, 3, true, 0, 1000, 0],
      ['b', 2599, 1, false, 0, 1, 1],
      ['b', 2600, 3, true, 0, 1000, 0],
      ['a', 2600, 1, false, 0, 400, 400],
    ],
  ],
  [
    'neither a peek nor a denial begins a window',
    [
      ['a', 1000, 0, true, 3, 0, 0],
      ['a', 1300, 4, false, 3, 0, NEVER],
      ['a', 1700, 1, true, 2, 1000, 0],
      ['a', 1800, 0, true, 2, 900, 0],
      ['a', 1800, 4, false, 2, 900, NEVER],
      ['a', 2700, 0, true, 3, 0, 0],
    ],
  ],
  [
    'a clock with microseconds gives exact times',
    [
      ['a', 1000.25, 3, true, 0, 1000, 0],
      ['a', 1000.5, 1, false, 0, 999.75, 999.75],
      ['a', 2000.125, 1, false, 0, 0.125, 0.125],
      ['a', 2000.25, 1, true, 2, 1000, 0],
    ],
  ],
  [
    'after a step back a window lasts its length from then on, and grants nothing',
    [
      ['a', 5000, 2, true, 1, 1000, 0],
      ['a', 4900, 0, true, 1, 1000, 0],
      ['a', 4900, 2, false, 1, 1000, 1000],
      ['a', 5899, 2, false, 1, 1, 1],
      ['a', 5900, 2, true, 1, 1000, 0],
    ],
  ],
])('%s', (_title, rows) => {
  const states = new Map<string, State | undefined>()
  for (const [client, atMs, cost, allowed, remaining, resetAfterMs, retryAfterMs] of rows) {
    const state = states.get(client)
    const { next, ...figures } = policy.take(state, atMs, cost)
    const expected = { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs: resetAfterMs }
    expect({ client, atMs, ...figures }).toEqual({ client, atMs, ...expected })
    states.set(client, next ?? state)
  }
})

test('its state is the count, and when the window began', () => {
  const { next } = policy.take(undefined, 1700, 1)
  expect(next).toEqual([1, 1700])
  expect(policy.take(next, 2100, 2).next).toEqual([3, 1700])
  expect(policy.take(next, 2700, 2).next).toEqual([2, 2700])
  expect(policy.take([0, 0], 1700, 1).next).toEqual([1, 1700])
})

test('a refund reaches only the window in which the units were taken', () => {
  const state: State = [2, 1700]
  expect(policy.refund(state, 2000, 1, 1700)).toEqual([1, 1700])
  expect(policy.refund(state, 2000, 1, 2699)).toEqual([1, 1700])
  expect(policy.refund(state, 2000, 2, 1900)).toBeUndefined()
  expect(policy.refund(state, 2000, 5, 1900)).toBeUndefined()
  for (const takenAtMs of [700, 1699, 2700]) expect(policy.refund(state, 2000, 1, takenAtMs)).toBe(state)
  expect(policy.refund(state, 2000, 0, 1900)).toBe(state)
})

test('a refund of all units makes the key fresh, so that the next charge begins a window', () => {
  const { next } = policy.take(undefined, 1700, 1)
  const refunded = policy.refund(next as State, 1800, 1, 1700)
  expect(policy.take(refunded, 1900, 1)).toMatchObject({ resetAfterMs: 1000, next: [1, 1900] })
})

test('a denial clamps a state from a clock far ahead, which then waits for one window', () => {
  const denied = policy.take([3, 900_000], 1500, 1)
  expect(denied).toMatchObject({ allowed: false, retryAfterMs: 1000, next: [3, 1500] })
  expect(policy.take(denied.next, 2500, 1)).toMatchObject({ allowed: true, next: [1, 2500] })
  const state: State = [3, 1500]
  expect(policy.clampToNow(state, 1500)).toBe(state)
})

test.each([2 ** 31 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER])('counts exactly up to a limit of %d', (limit) => {
  const large = fixedWindow({ limit, window: '1m', startsAt: 'first-request' })
  const { next } = large.take(undefined, 1700, limit - 1)
  const last = large.take(next, 1700, 1)
  expect(last).toMatchObject({ allowed: true, remaining: 0, next: [limit, 1700] })
  expect(large.take(last.next, 1700, 1)).toMatchObject({ allowed: false, remaining: 0 })
  expect(large.take(last.next, 1700, limit)).toMatchObject({ allowed: false, retryAfterMs: 60_000 })
})

test('a refund leaves a window alone that began in the millisecond of its charge, under other numbers', () => {
  const [shorter, longer] = ['20ms', '21ms'].map((window) =>
    fixedWindow({ limit: 3, window, startsAt: 'first-request' }),
  ) as [typeof policy, typeof policy]
  const first = shorter.take(undefined, 0, 1).next
  const { next, resetAfterMs } = longer.take(first, 20, 2)
  expect([next, resetAfterMs]).toEqual([[3, 0], 1])
  const begun = shorter.take(next, 20, 1).next as State
  expect(begun).toEqual([1, 20])
  expect(longer.refund(begun, 20, 1, 20, 20 + resetAfterMs)).toBe(begun)
  expect(shorter.refund(begun, 20, 1, 20, 40)).toBeUndefined()
})

test('startsAt: clock is the default', () => {
  const given = fixedWindow({ limit: 3, window: '1s', startsAt: 'clock' })
  expect(given.spec.kind).toBe('fixed-window')
  expect(given.take(undefined, 1700, 1)).toMatchObject({ resetAfterMs: 300, next: [1, 1700] })
  expect(fixedWindow({ limit: 3, window: '1s' }).spec.kind).toBe('fixed-window')
})

test.each([
  ['request', '"request"'],
  ['firstRequest', '"firstRequest"'],
  [null, 'null'],
  [0, '0'],
])('startsAt: %p is an error with its fix', (startsAt, shown) => {
  const options = { limit: 3, window: '1s', startsAt } as unknown as Parameters<typeof fixedWindow>[0]
  expect(() => fixedWindow(options)).toThrow(
    new TypeError(
      `fixedWindow: startsAt must be 'clock' or 'first-request', got ${shown}. ` +
        "Write startsAt: 'first-request' to begin each client's window with its first request.",
    ),
  )
})
