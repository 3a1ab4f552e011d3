import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createDeadline, createDeadlines, TimeoutError, timeout } from '../../../src/util/timeout.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'

const TIMEOUT_MS = 100

/** For programs that run in a process of their own. */
let source: Bundle

beforeAll(async () => {
  source = await bundle('src/util/timeout.ts')
})

afterAll(() => source?.remove())
beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

/** Work that is ended by hand, and what becomes of it. */
function workOf(inTime: ReturnType<typeof timeout>) {
  let end: (result: string) => void = () => undefined
  let fail: (reason: unknown) => void = () => undefined
  const work = new Promise<string>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  const outcome = jest.fn()
  const answer = inTime(work)
  answer.then(outcome, (error: Error) => outcome(error.message))
  return { answer, outcome, end: (result: string) => end(result), fail: (reason: unknown) => fail(reason) }
}

test('work that takes longer rejects with a TimeoutError that names the time', async () => {
  const { answer, outcome } = workOf(timeout(TIMEOUT_MS))
  await jest.advanceTimersByTimeAsync(TIMEOUT_MS - 1)
  expect(outcome).not.toHaveBeenCalled()
  await jest.advanceTimersByTimeAsync(2)
  expect(outcome.mock.calls).toEqual([['no reply within 100 ms']])
  await expect(answer).rejects.toThrow(TimeoutError)
})

test('the outcome of late work is dropped', async () => {
  const late = [workOf(timeout(TIMEOUT_MS)), workOf(timeout(TIMEOUT_MS))]
  await jest.advanceTimersByTimeAsync(TIMEOUT_MS + 1)
  late[0]?.end('an answer')
  late[1]?.fail(new Error('the connection is lost'))
  await jest.advanceTimersByTimeAsync(10 * TIMEOUT_MS)
  for (const { outcome } of late) expect(outcome.mock.calls).toEqual([['no reply within 100 ms']])
})

test('work in time resolves with its result, and leaves no timer', async () => {
  const { outcome, end } = workOf(timeout(TIMEOUT_MS))
  await jest.advanceTimersByTimeAsync(TIMEOUT_MS - 1)
  end('an answer')
  await jest.advanceTimersByTimeAsync(10 * TIMEOUT_MS)
  expect(outcome.mock.calls).toEqual([['an answer']])
  expect(jest.getTimerCount()).toBe(0)
})

test('work that fails in time rejects with its reason', async () => {
  const { answer, fail } = workOf(timeout(TIMEOUT_MS))
  const reason = new RangeError('too much')
  fail(reason)
  await expect(answer).rejects.toBe(reason)
  await jest.advanceTimersByTimeAsync(10 * TIMEOUT_MS)
})

test('one timer serves many promises, and each has all of its time', async () => {
  const inTime = timeout(TIMEOUT_MS)
  const works = [workOf(inTime)]
  for (let i = 1; i < 10; i++) {
    await jest.advanceTimersByTimeAsync(10)
    works.push(workOf(inTime))
    expect(jest.getTimerCount()).toBe(1)
  }
  for (const [i, { outcome }] of works.entries()) {
    await jest.advanceTimersByTimeAsync(i === 0 ? 9 : 8)
    expect(outcome).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(2)
    expect(outcome).toHaveBeenCalledTimes(1)
  }
  expect(jest.getTimerCount()).toBe(0)
})

test('promises of one turn time out together', async () => {
  const inTime = timeout(TIMEOUT_MS)
  const works = Array.from({ length: 50 }, () => workOf(inTime))
  works[7]?.end('an answer')
  await jest.advanceTimersByTimeAsync(TIMEOUT_MS + 1)
  const given = works.map(({ outcome }) => outcome.mock.calls.flat())
  expect(given).toEqual(works.map((_, i) => [i === 7 ? 'an answer' : 'no reply within 100 ms']))
  expect(jest.getTimerCount()).toBe(0)
})

test('a deadline that starts another when it expires leaves one timer', async () => {
  const deadlines = createDeadlines(TIMEOUT_MS)
  const expired = jest.fn(() => deadlines.start(createDeadline(() => {})))
  for (let i = 0; i < 20; i++) {
    deadlines.start(createDeadline(expired))
    await jest.advanceTimersByTimeAsync(10)
    expect(jest.getTimerCount()).toBeLessThanOrEqual(1)
  }
  expect(expired).toHaveBeenCalled()
})

test('a deadline that throws when it expires does not stop the others', async () => {
  jest.useRealTimers()
  const program = [
    `import { createDeadline, createDeadlines } from ${JSON.stringify(source.path)}`,
    "process.on('uncaughtException', ({ message }) => console.log(message))",
    'const deadlines = createDeadlines(5)',
    "deadlines.start(createDeadline(() => { throw new Error('of a listener') }))",
    "deadlines.start(createDeadline(() => { console.log('expired'); process.exit() }))",
    'setInterval(() => undefined, 1000)',
  ].join('\n')
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toBe('of a listener\nexpired\n')
})

test('an answer that arrived while the process was busy is in time', async () => {
  jest.useRealTimers()
  const answered = new Promise((resolve) => setTimeout(() => setImmediate(resolve, 'an answer'), 5))
  const answer = timeout(20)(answered)
  for (const endMs = performance.now() + 60; performance.now() < endMs; );
  expect(await answer).toBe('an answer')
})

test('no timer keeps the process running', async () => {
  jest.useRealTimers()
  const program = [
    `import { timeout } from ${JSON.stringify(source.path)}`,
    'timeout(60_000)(new Promise(() => undefined))',
    "process.on('exit', () => console.log('it ends'))",
  ].join(';')
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 })
  expect(stdout).toBe('it ends\n')
})

test('a deadline that starts once timers are real again expires, although the timer of an earlier one was faked', async () => {
  const deadlines = createDeadlines(TIMEOUT_MS)
  deadlines.start(createDeadline(() => undefined))
  jest.useRealTimers()
  await new Promise<void>((resolve) => deadlines.start(createDeadline(resolve)))
})
