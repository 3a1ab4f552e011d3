import { StoreError } from 'headgate'
import { type BreakerState, breaker, type Turn } from '../../../src/resilience/circuit-breaker.js'

const cause = new StoreError('redis', 'connection refused')

function watched() {
  const changes: [BreakerState, StoreError | undefined][] = []
  const fuse = breaker((...change) => changes.push(change))
  let turn = fuse.admit() as Turn
  const made = {
    get state() {
      return fuse.state
    },
    get cause() {
      return fuse.cause
    },
    /** What is told from then on is told of what is admitted here. */
    admits() {
      const next = fuse.admit()
      turn = next ?? turn
      return next !== undefined
    },
    succeeded: () => fuse.succeeded(turn),
    failed: (error: StoreError, isOneOfMany?: boolean) => fuse.failed(turn, error, isOneOfMany),
  }
  return { made, changes, fuse }
}

/** One that has opened. */
function opened() {
  const { made, changes } = watched()
  for (let i = 0; i < 5; i++) made.failed(cause)
  return { made, changes }
}

/** How long an open one admits nothing; then it is half-open. */
function openForMs({ admits }: { admits(): boolean }): number {
  for (let ms = 0; ms <= 2000; ms++) {
    if (admits()) return ms
    jest.advanceTimersByTime(1)
  }
  throw new Error('It stayed open.')
}

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test('it admits all until five failures in a row', () => {
  const { made, changes } = watched()
  for (let i = 0; i < 4; i++) made.failed(cause)
  expect(made.admits()).toBe(true)
  made.succeeded()
  for (let i = 0; i < 4; i++) made.failed(cause)
  expect(made.admits()).toBe(true)
  expect(changes).toEqual([])
  made.failed(cause)
  expect(made).toMatchObject({ state: 'open', cause })
  expect(made.admits()).toBe(false)
  expect(changes).toEqual([['open', cause]])
})

test('it opens when half of at least twenty answers are failures', () => {
  const { made } = watched()
  for (let i = 0; i < 9; i++) {
    made.succeeded()
    made.failed(cause)
  }
  made.succeeded()
  expect(made.state).toBe('closed')
  made.failed(cause)
  expect(made.state).toBe('open')
})

test('it stays closed while fewer than half fail, however many they are', () => {
  const { made, changes } = watched()
  for (let i = 0; i < 1000; i++) {
    made.succeeded()
    made.succeeded()
    made.failed(cause)
    jest.advanceTimersByTime(1)
  }
  expect(changes).toEqual([])
})

test('failures of long ago count no more', () => {
  const { made } = watched()
  for (let i = 0; i < 200; i++) {
    made.succeeded()
    made.failed(cause)
    jest.advanceTimersByTime(150)
  }
  expect(made.state).toBe('closed')
})

test('it is open for half a second to a second, and not always for as long', () => {
  const times = Array.from({ length: 50 }, () => openForMs(opened().made))
  expect(Math.min(...times)).toBeGreaterThanOrEqual(500)
  expect(Math.max(...times)).toBeLessThanOrEqual(1001)
  expect(new Set(times).size).toBeGreaterThan(10)
})

test('half-open, it admits one, and closes when that succeeds', () => {
  const { made, changes } = opened()
  openForMs(made)
  expect(made).toMatchObject({ state: 'half-open', cause })
  for (let i = 0; i < 100; i++) expect(made.admits()).toBe(false)
  made.succeeded()
  expect(made).toMatchObject({ state: 'closed', cause: undefined })
  expect(made.admits()).toBe(true)
  expect(changes.map(([state]) => state)).toEqual(['open', 'half-open', 'closed'])
})

test('half-open, it opens again when the one fails, with the new cause', () => {
  const { made, changes } = opened()
  openForMs(made)
  const again = new StoreError('redis', 'no answer within 100 ms')
  made.failed(again)
  expect(made).toMatchObject({ state: 'open', cause: again })
  expect(openForMs(made)).toBeGreaterThanOrEqual(500)
  made.succeeded()
  expect(changes).toEqual([
    ['open', cause],
    ['half-open', cause],
    ['open', again],
    ['half-open', again],
    ['closed', undefined],
  ])
})

test('what comes in late while it is open changes nothing', () => {
  const { made, changes } = opened()
  for (let i = 0; i < 100; i++) made.failed(cause)
  made.succeeded()
  expect(made.state).toBe('open')
  expect(changes).toHaveLength(1)
})

test('closed again, it takes five failures to open', () => {
  const { made } = opened()
  openForMs(made)
  made.succeeded()
  expect(made.admits()).toBe(true)
  for (let i = 0; i < 4; i++) made.failed(cause)
  expect(made.state).toBe('closed')
  made.failed(cause)
  expect(made.state).toBe('open')
})

test('what ran out of time at one moment counts as one failure in a row', () => {
  const { made } = watched()
  for (let moment = 0; moment < 5; moment++) {
    expect(made.state).toBe('closed')
    for (let i = 0; i < 3; i++) made.failed(cause, true)
    jest.advanceTimersByTime(20)
  }
  expect(made.state).toBe('open')
})

test('many that run out of time at one moment do not open it while others are answered', () => {
  const { made } = watched()
  for (let i = 0; i < 1000; i++) made.succeeded()
  for (let i = 0; i < 60; i++) made.failed(cause, true)
  expect(made.state).toBe('closed')
})

test.each([0, 1500])(
  'a hundred answers outweigh twenty that run out of time at one moment, %d ms later',
  (ms) => {
    const { made, changes } = watched()
    for (let i = 0; i < 100; i++) made.succeeded()
    jest.advanceTimersByTime(ms)
    for (let i = 0; i < 20; i++) made.failed(cause, true)
    expect(changes).toEqual([])
  },
)

test('what runs out of time without a pause opens it within five moments', () => {
  const { made } = watched()
  for (let i = 0; i < 1000; i++) made.succeeded() // too many for half of the answers to fail soon
  let ms = 0
  for (; made.state === 'closed'; ms++) {
    made.failed(cause, true)
    jest.advanceTimersByTime(1)
  }
  expect(ms).toBeLessThanOrEqual(60)
})

test('what was asked before it opened has no say in how its probe goes', () => {
  const { fuse } = watched()
  const early = fuse.admit() as Turn
  for (let i = 0; i < 5; i++) fuse.failed(early, cause)
  jest.advanceTimersByTime(1000)
  const probe = fuse.admit() as Turn
  fuse.succeeded(early)
  fuse.failed(early, cause)
  expect(fuse.state).toBe('half-open')
  fuse.succeeded(probe)
  expect(fuse.state).toBe('closed')
  for (let i = 0; i < 20; i++) fuse.failed(early, cause)
  expect(fuse.state).toBe('closed')
})
