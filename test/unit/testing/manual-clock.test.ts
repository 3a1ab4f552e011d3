import { createLimiter, memoryStore } from 'headgate'
import { manualClock } from 'headgate/testing'

test('it starts at midnight of 2030 or at a given time, and stands still', () => {
  expect(manualClock()()).toBe(Date.UTC(2030, 0, 1))
  const clock = manualClock(1500.25)
  expect([clock(), clock()]).toEqual([1500.25, 1500.25])
})

test('it advances by durations and by milliseconds, and returns the new time', () => {
  const clock = manualClock(0)
  expect([clock.advance('30s'), clock.advance(250), clock.advance(0.5), clock.advance(0)]).toEqual([
    30_000, 30_250, 30_250.5, 30_250.5,
  ])
  expect(clock()).toBe(30_250.5)
})

test('a limiter in memory goes by it, to the millisecond', async () => {
  const clock = manualClock()
  const store = memoryStore({ clock })
  const limiter = createLimiter({ limit: 3, window: '10s', store, key: (user: string) => user })
  for (let i = 0; i < 3; i++) await limiter.charge('ada')
  const { allowed, retryAfterMs } = await limiter.charge('ada')
  expect(allowed).toBe(false)
  clock.advance(retryAfterMs - 1)
  expect(await limiter.charge('ada')).toMatchObject({ allowed: false, retryAfterMs: 1 })
  clock.advance(1)
  expect(await limiter.charge('ada')).toMatchObject({ allowed: true })
})

test.each([
  [-1, "manualClock: duration must be at least 0 milliseconds, or a string such as '30s', got -1."],
  [Number.NaN, 'got NaN'],
  [Number.POSITIVE_INFINITY, 'got Infinity'],
  ['soon', 'manualClock: duration must be a duration'],
  [undefined, 'got undefined'],
])('it does not advance by %p', (duration, message) => {
  const clock = manualClock(0)
  expect(() => clock.advance(duration as never)).toThrow(message)
  expect(clock()).toBe(0)
})

test('it does not start at a time that is no number', () => {
  expect(() => manualClock(new Date() as never)).toThrow('manualClock: startMs must be milliseconds since')
})
