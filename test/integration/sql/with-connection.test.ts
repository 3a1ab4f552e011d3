import { withConnection } from '../../../src/stores/sql/with-connection.js'

/** A pool of one connection that is free when a test says so, and what became of it. */
function makePool() {
  const ends: string[] = []
  let free: (connection: string) => void = () => undefined
  const pool = {
    acquire: () =>
      new Promise<string>((resolve) => {
        free = resolve
      }),
    release: () => ends.push('released'),
    rollback: async () => ends.push('rolled back'),
    destroy: () => ends.push('destroyed'),
  }
  return { pool, ends, free: () => free('connection') }
}

/** The message that a promise rejects with, once it does. */
function watch(promise: Promise<unknown>) {
  const outcome: { message?: string } = {}
  promise.catch((error: Error) => {
    outcome.message = error.message
  })
  return outcome
}

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test('withConnection rejects with the fix after five seconds without a connection, and releases a later one', async () => {
  const { pool, ends, free } = makePool()
  const use = jest.fn()
  const outcome = watch(withConnection(pool, use))
  await jest.advanceTimersByTimeAsync(4990)
  expect(outcome).toEqual({})
  await jest.advanceTimersByTimeAsync(20)
  expect(outcome.message).toMatch(/^no connection of the pool was free within 5000 ms: .*its own pool$/)
  free()
  await jest.advanceTimersByTimeAsync(1)
  expect(ends).toEqual(['released'])
  expect(use).not.toHaveBeenCalled()
})

test('withConnection destroys a connection without a reply for five seconds, and does not blame the pool', async () => {
  const { pool, ends, free } = makePool()
  const outcome = watch(withConnection(pool, () => new Promise(() => undefined)))
  free()
  await jest.advanceTimersByTimeAsync(5010)
  expect(outcome).toEqual({ message: 'no reply within 5000 ms' })
  expect(ends).toEqual(['destroyed'])
})

test('withConnection rolls back and releases a connection after an error, and destroys it if that hangs', async () => {
  const { pool, ends, free } = makePool()
  const fail = () => Promise.reject(new Error('no such table'))
  const outcome = watch(withConnection(pool, fail))
  free()
  await jest.advanceTimersByTimeAsync(1)
  expect(outcome).toEqual({ message: 'no such table' })
  expect(ends).toEqual(['rolled back', 'released'])
  const hanging = watch(withConnection({ ...pool, rollback: () => new Promise(() => undefined) }, fail))
  free()
  await jest.advanceTimersByTimeAsync(5010)
  expect(hanging).toEqual({ message: 'no such table' })
  expect(ends).toEqual(['rolled back', 'released', 'destroyed'])
})
