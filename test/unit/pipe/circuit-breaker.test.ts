import { StoreError } from 'headgate'
import { type BreakerChange, circuitBreaker, type Generation } from '../../../src/pipe/circuit-breaker.js'

const cause = new StoreError('redis', 'connection refused')
const timeout = new StoreError('redis', 'no reply within 100 ms')

/** A breaker whose outcomes are recorded in the latest generation. */
function watchedBreaker() {
  const changes: BreakerChange[] = []
  const breaker = circuitBreaker((...change) => changes.push(change))
  let generation = breaker.admit() as Generation
  const made = {
    get state() {
      return breaker.state
    },
    get cause() {
      return breaker.cause
    },
    admits() {
      const next = breaker.admit()
      generation = next ?? generation
      return next !== undefined
    },
    succeed: () => generation.recordSuccess(),
    fail: (error: StoreError) => generation.recordFailure(error),
    /** Fails so many times, at different moments. */
    failInTurn(times: number) {
      for (let i = 0; i < times; i++) {
        made.fail(cause)
        jest.advanceTimersByTime(11)
      }
    },
  }
  return { made, changes, breaker }
}

function openBreaker() {
  const { made, changes } = watchedBreaker()
  made.failInTurn(5)
  return { made, changes }
}

/** Returns how long an open breaker admits nothing. */
function openForMs({ admits }: { admits(): boolean }): number {
  for (let ms = 0; ms <= 2000; ms++) {
    if (admits()) return ms
    jest.advanceTimersByTime(1)
  }
  throw new Error('The breaker stayed open for 2 seconds.')
}

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test('a closed breaker admits all calls until five failures in a row', () => {
  const { made, changes } = watchedBreaker()
  made.failInTurn(4)
  expect(made.admits()).toBe(true)
  made.succeed()
  made.failInTurn(4)
  expect(made.admits()).toBe(true)
  expect(changes).toEqual([])
  made.fail(cause)
  expect(made).toMatchObject({ state: 'open', cause })
  expect(made.admits()).toBe(false)
  expect(changes).toEqual([['open', cause]])
})

test('a breaker opens when half of at least twenty answers are failures', () => {
  const { made } = watchedBreaker()
  for (let i = 0; i < 9; i++) {
    made.succeed()
    made.fail(cause)
  }
  made.succeed()
  expect(made.state).toBe('closed')
  made.fail(cause)
  expect(made.state).toBe('open')
})

test('a breaker stays closed while fewer than half of the calls fail, however many they are', () => {
  const { made, changes } = watchedBreaker()
  for (let i = 0; i < 1000; i++) {
    made.succeed()
    made.succeed()
    made.fail(cause)
    jest.advanceTimersByTime(1)
  }
  expect(changes).toEqual([])
})

test('failures of earlier seconds do not count', () => {
  const { made } = watchedBreaker()
  for (let i = 0; i < 200; i++) {
    made.succeed()
    made.fail(cause)
    jest.advanceTimersByTime(150)
  }
  expect(made.state).toBe('closed')
})

test('a breaker is open for a random time of half a second to a second', () => {
  const times = Array.from({ length: 50 }, () => openForMs(openBreaker().made))
  expect(Math.min(...times)).toBeGreaterThanOrEqual(489) // the last failure was 11 ms before
  expect(Math.max(...times)).toBeLessThanOrEqual(1001)
  expect(new Set(times).size).toBeGreaterThan(10)
})

test('a half-open breaker admits one call, and closes when that succeeds', () => {
  const { made, changes } = openBreaker()
  openForMs(made)
  expect(made).toMatchObject({ state: 'half-open', cause })
  for (let i = 0; i < 100; i++) expect(made.admits()).toBe(false)
  made.succeed()
  expect(made).toMatchObject({ state: 'closed', cause: undefined })
  expect(made.admits()).toBe(true)
  expect(changes.map(([state]) => state)).toEqual(['open', 'half-open', 'closed'])
})

test('a half-open breaker opens again when its probe fails, with the new cause', () => {
  const { made, changes } = openBreaker()
  openForMs(made)
  const again = new StoreError('redis', 'no reply within 100 ms')
  made.fail(again)
  expect(made).toMatchObject({ state: 'open', cause: again })
  expect(openForMs(made)).toBeGreaterThanOrEqual(500)
  made.succeed()
  expect(changes).toEqual([
    ['open', cause],
    ['half-open', cause],
    ['open', again],
    ['half-open', again],
    ['closed', undefined],
  ])
})

test('late outcomes change nothing while the breaker is open', () => {
  const { made, changes } = openBreaker()
  for (let i = 0; i < 100; i++) made.fail(cause)
  made.succeed()
  expect(made.state).toBe('open')
  expect(changes).toHaveLength(1)
})

test('a breaker that has closed again takes five failures to open', () => {
  const { made } = openBreaker()
  openForMs(made)
  made.succeed()
  expect(made.admits()).toBe(true)
  made.failInTurn(4)
  expect(made.state).toBe('closed')
  made.fail(cause)
  expect(made.state).toBe('open')
})

test('failures of one moment count as one failure in a row, whatever their kind', () => {
  const { made } = watchedBreaker()
  for (let moment = 0; moment < 5; moment++) {
    expect(made.state).toBe('closed')
    for (let i = 0; i < 3; i++) made.fail(i === 1 ? timeout : cause)
    jest.advanceTimersByTime(20)
  }
  expect(made.state).toBe('open')
})

test('many calls that fail together do not open a breaker while others succeed', () => {
  const { made } = watchedBreaker()
  for (let i = 0; i < 1000; i++) made.succeed()
  for (let i = 0; i < 60; i++) made.fail(cause)
  expect(made.state).toBe('closed')
})

test.each([0, 1500])('a hundred answers outweigh twenty calls that fail together %d ms later', (ms) => {
  const { made, changes } = watchedBreaker()
  for (let i = 0; i < 100; i++) made.succeed()
  jest.advanceTimersByTime(ms)
  for (let i = 0; i < 20; i++) made.fail(cause)
  expect(changes).toEqual([])
})

test('calls that time out all the time open a breaker within 60 ms', () => {
  const { made } = watchedBreaker()
  for (let i = 0; i < 1000; i++) made.succeed() // too many for half of the answers to fail soon
  let ms = 0
  for (; made.state === 'closed'; ms++) {
    made.fail(cause)
    jest.advanceTimersByTime(1)
  }
  expect(ms).toBeLessThanOrEqual(60)
})

test('outcomes of an earlier generation do not count', () => {
  const { made, breaker } = watchedBreaker()
  const early = breaker.admit() as Generation
  made.failInTurn(5)
  jest.advanceTimersByTime(1000)
  const probe = breaker.admit() as Generation
  early.recordSuccess()
  early.recordFailure(cause)
  expect(breaker.state).toBe('half-open')
  probe.recordSuccess()
  expect(breaker.state).toBe('closed')
  for (let i = 0; i < 20; i++) early.recordFailure(cause)
  expect(breaker.state).toBe('closed')
})
