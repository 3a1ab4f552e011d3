import { atOnce, inSlices, type SliceTimer, type Steps } from '../../../src/util/slices.js'

/** A clock that moves by so many milliseconds with each step, and slices that a test starts by hand. */
function timerOf(stepMs: number) {
  let nowMs = 0
  const deferred: (() => void)[] = []
  const timer: SliceTimer = { now: () => nowMs, defer: (resume) => deferred.push(resume) }
  return {
    timer,
    deferred,
    step: () => {
      nowMs += stepMs
    },
  }
}

test('work is done in slices of four milliseconds', async () => {
  const { timer, deferred, step } = timerOf(1)
  const done: number[] = []
  function* work(): Steps<string> {
    for (let i = 1; i <= 10; i++) {
      done.push(i)
      step()
      yield
    }
    return 'all'
  }
  const result = inSlices(work(), timer)
  expect(done).toHaveLength(4) // at once
  for (const expected of [8, 10]) {
    deferred.shift()?.()
    await Promise.resolve()
    await Promise.resolve()
    expect(done).toHaveLength(expected)
  }
  expect(await result).toBe('all')
  expect(deferred).toEqual([])
})

test('short work ends in the turn that began it', async () => {
  const { timer, deferred } = timerOf(0)
  let isDone = false
  function* work(): Steps<void> {
    yield
    yield
    isDone = true
  }
  const result = inSlices(work(), timer)
  expect(isDone).toBe(true)
  expect(deferred).toEqual([])
  await result
})

test('what a step throws is thrown, and rejects', async () => {
  function* work(): Steps<void> {
    yield
    throw new TypeError('wrong')
  }
  expect(() => atOnce(work())).toThrow('wrong')
  await expect(inSlices(work())).rejects.toThrow('wrong')
})

test('slices go on while a test fakes the timers of the application', async () => {
  jest.useFakeTimers({ doNotFake: ['performance'] })
  try {
    const endMs = performance.now() + 20
    const steps = (function* (): Steps<string> {
      while (performance.now() < endMs) yield
      return 'done'
    })()
    expect(await inSlices(steps)).toBe('done')
  } finally {
    jest.useRealTimers()
  }
})
