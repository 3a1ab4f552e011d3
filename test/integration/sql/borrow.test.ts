import { borrower, type Lending } from '../../../src/stores/sql/with-connection.js'

/** A pool of one connection that is free when a test says so, and what became of that. */
function makeLending() {
  const ends: string[] = []
  let free: (connection: string) => void = () => undefined
  const lending: Lending<string> = {
    take: () =>
      new Promise((resolve) => {
        free = resolve
      }),
    release: () => ends.push('released'),
    rollback: async () => ends.push('rolled back'),
    destroy: () => ends.push('destroyed'),
  }
  return { lending, ends, free: () => free('connection') }
}

/** Why a promise was rejected, once it is. */
function watch(promise: Promise<unknown>) {
  const outcome: { message?: string } = {}
  promise.catch((error: Error) => {
    outcome.message = error.message
  })
  return outcome
}

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test('without a free connection for five seconds it rejects with what to do, and gives back one that comes later', async () => {
  const { lending, ends, free } = makeLending()
  const work = jest.fn()
  const outcome = watch(borrower(lending)(work))
  await jest.advanceTimersByTimeAsync(4990)
  expect(outcome).toEqual({})
  await jest.advanceTimersByTimeAsync(20)
  expect(outcome.message).toMatch(/^no connection of the pool was free within 5000 ms: .*a pool of its own$/)
  free()
  await jest.advanceTimersByTimeAsync(1)
  expect(ends).toEqual(['released'])
  expect(work).not.toHaveBeenCalled()
})

test('without an answer for five seconds it destroys the connection, and does not blame the pool', async () => {
  const { lending, ends, free } = makeLending()
  const outcome = watch(borrower(lending)(() => new Promise(() => undefined)))
  free()
  await jest.advanceTimersByTimeAsync(5010)
  expect(outcome).toEqual({ message: 'no answer within 5000 ms' })
  expect(ends).toEqual(['destroyed'])
})
