import {
  ban,
  concurrency,
  consecutive,
  fixedWindow,
  type Policy,
  quota,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'

const FIRST = { startsAt: 'first-request' } as const

/** Rates whose windows are short enough for a test against a real clock. */
function rates(window: number): Policy[] {
  const length = `${window}ms`
  return [
    tokenBucket({ capacity: 5, refill: 3, every: `${window}ms` }),
    tokenBucket({ capacity: 8, refill: 3, every: `${window}ms` }),
    tokenBucket({ capacity: 3, refill: 7, every: `${window}ms` }),
    tokenBucket({ capacity: 1, refill: 1, every: `${window}ms` }),
    slidingWindow({ limit: 4, window: length, slices: 4 }),
    slidingWindow({ limit: 6, window: length, slices: 4 }),
    slidingWindow({ limit: 7, window: `${window - 3}ms`, slices: 3 }),
    slidingWindow({ limit: 5, window: length, slices: 1 }),
    slidingWindow({ limit: 9, window: length }),
    slidingLog({ limit: 4, window: length }),
    slidingLog({ limit: 6, window: length }),
    slidingLog({ limit: 9, window: `${window - 3}ms` }),
    fixedWindow({ limit: 3, window: length }),
    fixedWindow({ limit: 5, window: length }),
    fixedWindow({ limit: 3, window: length, ...FIRST }),
    fixedWindow({ limit: 5, window: length, ...FIRST }),
  ]
}

/** Bans of each kind of base, with one ban, with two and with three, by both settings of `onAttempt`. */
function bans(window: number): Policy[] {
  const length = `${window}ms`
  const restart = { onAttempt: 'restart' } as const
  const half = window / 2
  return [
    ban(slidingWindow({ limit: 4, window: length, slices: 4 }), {
      after: 2,
      within: `${window}ms`,
      for: [`${half}ms`, `${window}ms`, `${3 * window}ms`],
    }),
    ban(tokenBucket({ capacity: 3, refill: 7, every: `${window}ms` }), {
      after: 1,
      within: `${window}ms`,
      for: [`${half}ms`, `${window}ms`],
      ...restart,
    }),
    ban(slidingLog({ limit: 3, window: length }), {
      after: 2,
      within: `${window}ms`,
      for: [`${half}ms`, `${2 * window}ms`],
    }),
    ban(fixedWindow({ limit: 3, window: length }), {
      after: 3,
      within: `${2 * window}ms`,
      for: `${2 * window}ms`,
    }),
    ban(fixedWindow({ limit: 3, window: length, ...FIRST }), {
      after: 2,
      within: `${half}ms`,
      for: [`${half}ms`, `${window}ms`],
    }),
    ban(consecutive({ limit: 4 }), {
      after: 2,
      within: `${window}ms`,
      for: [`${half}ms`, `${2 * window}ms`],
      ...restart,
    }),
    ...changedBans(window),
  ]
}

/** Bans that share keys with those above: with another limit, or with other times for settable clocks. */
function changedBans(window: number): Policy[] {
  const length = `${window}ms`
  const half = `${window / 2}ms`
  return [
    ban(slidingWindow({ limit: 6, window: length, slices: 4 }), {
      after: 2,
      within: length,
      for: [half, length, `${3 * window}ms`],
    }),
    ban(slidingWindow({ limit: 5, window: length, slices: 4 }), { after: 1, within: half, for: half }),
    ban(tokenBucket({ capacity: 4, refill: 7, every: length }), {
      after: 3,
      within: `${2 * window}ms`,
      for: `${4 * window}ms`,
    }),
    ban(slidingLog({ limit: 5, window: half }), {
      after: 1,
      within: length,
      for: half,
      onAttempt: 'restart',
    }),
    ban(fixedWindow({ limit: 5, window: length }), { after: 3, within: `${2 * window}ms`, for: length }),
    ban(consecutive({ limit: 6 }), { after: 4, within: half, for: `${3 * window}ms` }),
  ]
}

const STILL = [
  quota({ limit: 4, per: 'day', timeZone: 'UTC' }),
  quota({ limit: 6, per: 'day', timeZone: 'UTC' }),
  consecutive({ limit: 4 }),
  consecutive({ limit: 6 }),
  concurrency({ limit: 4, ttl: '1s' }),
  concurrency({ limit: 3, ttl: '1003ms' }),
]

/** Policies for clocks that the model sets: windows of a second and of an hour. */
export const SETTABLE: readonly Policy[] = [...rates(1000), ...rates(3_600_000), ...bans(1000), ...STILL]

/** Policies for real clocks: windows that end while a trace runs, and some that do not. */
export const REAL: readonly Policy[] = [...rates(40), ...rates(300), ...bans(60), ...STILL]

/** Policies whose figures hardly change during a trace, for charges whose parts have different times. */
export const SLOW: readonly Policy[] = [
  tokenBucket({ capacity: 5, refill: 5, every: '100d' }),
  slidingWindow({ limit: 4, window: '100d', slices: 4 }),
  slidingLog({ limit: 5, window: '100d' }),
  fixedWindow({ limit: 3, window: '1000d' }),
  fixedWindow({ limit: 3, window: '100d', ...FIRST }),
  consecutive({ limit: 4 }),
  concurrency({ limit: 4, ttl: '100d' }),
  ban(slidingWindow({ limit: 4, window: '100d' }), {
    after: 3,
    within: '10d',
    for: ['10d', '20d'],
  }),
]
