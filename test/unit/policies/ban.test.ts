import { ban, consecutive, fixedWindow, type Policy, slidingWindow } from 'headgate'
import type { State } from 'headgate/store'
import type { BanOptions } from '../../../src/policies/ban.js'

const MINUTE_MS = 60_000
const window = fixedWindow({ limit: 2, window: '1m' })
const policy = ban(window, { after: 3, within: '10m', for: ['5m', '20m'] })

/** The steps of a client that attempts at given moments. */
function attempts(of: Policy, ...minutes: readonly number[]) {
  let state: State | undefined
  return minutes.map((minute) => {
    const step = of.take(state, minute * MINUTE_MS, 1)
    state = step.next ?? state
    return step
  })
}

function waits(of: Policy, ...minutes: readonly number[]): number[] {
  return attempts(of, ...minutes).map(({ retryAfterMs }) => retryAfterMs / MINUTE_MS)
}

test('`after` denials within the time start a ban; allowed charges do not count', () => {
  expect(waits(policy, 0, 0, 0, 0.5, 1, 1, 1.25)).toEqual([0, 0, 1, 0.5, 0, 0, 5])
})

test('denials further apart than `within` start no ban', () => {
  expect(waits(policy, 0, 0, 0, 0, 10, 10, 10, 10)).toEqual([0, 0, 1, 1, 0, 0, 1, 1])
})

test('the time `within` starts with the first denial', () => {
  expect(waits(policy, 0, 0, 0, 9, 9, 9, 9.5).at(-1)).toBe(5)
  expect(waits(policy, 0, 0, 0, 9, 9, 9, 10, 10, 10).at(-1)).toBe(1)
})

test('during a ban everything is denied, attempts do not lengthen it, and it ends by itself', () => {
  expect(waits(policy, 0, 0, 0, 0, 0, 1, 2, 4.75, 5)).toEqual([0, 0, 1, 1, 5, 4, 3, 0.25, 0])
})

test('each further ban is longer, up to the last, and the escalation resets after the length of the longest', () => {
  const again = [0, 0, 0, 0, 0]
  expect(waits(policy, ...again, 5, 5, 5, 5, 5).at(-1)).toBe(20)
  expect(waits(policy, ...again, 5, 5, 5, 5, 5, 25, 25, 25, 25, 25).at(-1)).toBe(20)
  expect(waits(policy, ...again, 24, 24, 24, 24, 24).at(-1)).toBe(20)
  expect(waits(policy, ...again, 25, 25, 25, 25, 25).at(-1)).toBe(5)
})

test("with onAttempt: 'restart' each attempt restarts the ban", () => {
  const restarting = ban(window, { after: 3, within: '10m', for: ['5m', '20m'], onAttempt: 'restart' })
  expect(waits(restarting, 0, 0, 0, 0, 0, 4, 8, 13)).toEqual([0, 0, 1, 1, 5, 5, 5, 0])
})

test('a ban that is shorter than the wait of its policy shows the longer one', () => {
  const short = ban(consecutive({ limit: 1 }), { after: 1, within: '1m', for: '1m' })
  expect(attempts(short, 0, 0)[1]?.retryAfterMs).toBe(Number.POSITIVE_INFINITY)
  const daily = ban(fixedWindow({ limit: 1, window: '1d' }), { after: 1, within: '1m', for: '1m' })
  expect(waits(daily, 0, 60)).toEqual([0, 23 * 60])
})

test('a peek during a ban shows when a unit is available again', () => {
  const [, , , , banned] = attempts(policy, 0, 0, 0, 0, 0)
  expect(policy.take(banned?.next, 2 * MINUTE_MS, 0)).toEqual({
    allowed: true,
    remaining: 0,
    resetAfterMs: 23 * MINUTE_MS,
    unitsAfterMs: 0,
    retryAfterMs: 0,
    moreAfterMs: 3 * MINUTE_MS,
    next: undefined,
  })
})

test('a ban that a clock ahead has started starts over now, and lasts as long as it was given', () => {
  const ahead = attempts(policy, 1e6, 1e6, 1e6, 1e6, 1e6).at(-1)?.next
  const denied = policy.take(ahead, 0, 1)
  expect(denied).toMatchObject({ allowed: false, retryAfterMs: 5 * MINUTE_MS })
  expect(denied.next).toHaveLength(policy.width as number)
  expect(policy.take(denied.next, 5 * MINUTE_MS, 1).allowed).toBe(true)
})

test('a policy with shorter bans leaves a longer one as it is', () => {
  const long = ban(window, { after: 1, within: '10m', for: ['1h', '1d'] })
  const short = ban(window, { after: 1, within: '1m', for: '1m' })
  const banned = attempts(long, 0, 0, 0).at(-1)?.next as State
  const denied = short.take(banned, MINUTE_MS, 1)
  expect(denied).toMatchObject({ allowed: false, isBanned: true, retryAfterMs: 59 * MINUTE_MS })
  expect(denied.next).toBeUndefined()
  expect(short.clampToNow(banned, MINUTE_MS)).toBe(banned)
  expect(short.bannedForMs?.(short.block?.(banned, MINUTE_MS, 1000) as State, MINUTE_MS)).toBe(59 * MINUTE_MS)
})

test('denials count for as long as the policy that reads them says', () => {
  const patient = ban(window, { after: 4, within: '1h', for: '1h' })
  const denied = attempts(patient, 0, 0, 0, 1, 1, 1).at(-1)?.next // two denials
  expect(policy.take(denied, MINUTE_MS, 1)).toMatchObject({ isCounted: true, retryAfterMs: 5 * MINUTE_MS })
  const later = attempts(patient, 0, 0, 0, 11, 11).at(-1)?.next
  expect(policy.take(later, 11 * MINUTE_MS, 1)).toMatchObject({ isCounted: true, retryAfterMs: MINUTE_MS })
})

test('a ban has the name, limit and window of its policy, scales with it, and has its own kind', () => {
  const { spec, name, limit, windowMs } = policy
  expect({ kind: spec.kind, name, limit, windowMs }).toEqual({
    kind: 'ban',
    name: '2-in-1min',
    limit: 2,
    windowMs: MINUTE_MS,
  })
  const half = policy.scale(0.5)
  expect(half.limit).toBe(1)
  expect(waits(half, 0, 0, 0, 0)).toEqual([0, 1, 1, 5])
})

test.each([
  ['no policy', 5, {}, 'ban: policy must be a policy that is not a ban, got 5. Write ban(slidingWindow('],
  ['a ban', policy, {}, 'ban: policy must be a policy that is not a ban, got an object.'],
  ['no number of denials', window, { after: 0 }, 'ban: after must be a whole number of at least 1, got 0.'],
  ['no time for them', window, { within: '0s' }, 'ban: within must be a duration from 1 ms to 10 years'],
  [
    'no duration',
    window,
    { for: [] },
    'ban: for must be 1 to 16 durations, none shorter than the one before',
  ],
  [
    'a duration that is none',
    window,
    { for: ['1m', 'soon'] },
    'ban: for must be a duration from 1 ms to 10 years',
  ],
  ['shrinking durations', window, { for: ['2m', '1m'] }, "Did you mean for: ['1m', '10m', '1h']?"],
  ['too many', window, { for: new Array(17).fill('1m') }, 'ban: for must be 1 to 16 durations'],
  [
    'a strange attempt',
    window,
    { onAttempt: 'extend' },
    "ban: onAttempt must be one of 'nothing', 'restart'",
  ],
  [
    'another word',
    window,
    { duration: '1m' },
    'ban: there is no option "duration". Write for: \'10m\', with its unit.',
  ],
])('%s is refused with a message that names the fix', (_name, of, wrong, message) => {
  const options = { after: 3, within: '1m', for: '1m', ...wrong } as BanOptions
  expect(() => ban(of as Policy, options)).toThrow(message)
  expect(() =>
    ban(slidingWindow({ limit: 1, window: '1m' }), { after: 1, within: '1m', for: '1m' }),
  ).not.toThrow()
})

test('a refund restores units, but neither removes strikes nor ends a ban', () => {
  const banned = attempts(policy, 0, 0, 0, 0, 0).at(-1)?.next as State
  const refunded = policy.refund(banned, 0, 1, 0)
  expect(policy.take(refunded, 0, 1)).toMatchObject({ allowed: false, retryAfterMs: 5 * MINUTE_MS })
  expect(policy.take(refunded, 0, 0)).toEqual(policy.take(banned, 0, 0))
  const fresh = policy.refund(refunded as State, 0, 1, 0)
  expect(policy.take(fresh, 0, 1)).toMatchObject({ allowed: false, retryAfterMs: 5 * MINUTE_MS })
  expect(policy.refund(banned, MINUTE_MS, 1, MINUTE_MS)).toBe(banned) // taken in another window
})

test.each<[string, Policy, string, number]>([
  ['the end of the ban, if units are left by then', window, '5m', 5 * MINUTE_MS],
  ['the next units after that, if none are', fixedWindow({ limit: 2, window: '1h' }), '5m', 60 * MINUTE_MS],
  ['nothing, if no time restores them', consecutive({ limit: 2 }), '5m', Number.POSITIVE_INFINITY],
])('a banned client waits for %s', (_what, inner, length, moreAfterMs) => {
  const strict = ban(inner, { after: 1, within: '10m', for: [length] })
  expect(attempts(strict, 0, 0, 0).at(-1)).toMatchObject({ allowed: false, remaining: 0, moreAfterMs })
})
