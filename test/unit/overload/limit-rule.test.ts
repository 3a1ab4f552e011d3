import { LimitRule } from '../../../src/overload/limit-rule.js'
import { Window } from '../../../src/overload/window.js'

/** A rule after a start in which `running` requests ran. */
function ruleOf(running = 0, changes = {}): LimitRule {
  const rule = new LimitRule({
    ...{ initial: 50, initialIfBusy: 20, min: 3, max: 1000, tolerance: 1.4 },
    ...changes,
  })
  rule.start(running)
  return rule
}

/** Moves the limit by a window with so many requests that took `factor` times as long as without a queue. */
function move(rule: LimitRule, { factor = 1, count = 40, peak = 50, isSurge = false, hasDenied = false }) {
  const window = new Window(0, 0, 0)
  for (let i = 0; i < count; i++) {
    window.end(peak)
    window.add(10 * factor)
  }
  rule.move(window, { factor, count }, { isSurge, hasDenied })
  return [Math.round(rule.limit), rule.isGuess]
}

test('the limit of the start is a guess, unless more requests ran', () => {
  const rules = [ruleOf(0), ruleOf(4), ruleOf(25), ruleOf(36), ruleOf(0, { max: 10 }), ruleOf(0, { min: 60 })]
  expect(rules.map((rule) => [rule.limit, rule.isGuess])).toEqual([
    [50, true],
    [50, true],
    [50, true], // 45 if it is busy
    [60, false],
    [10, false],
    [60, false],
  ])
})

test('a guess falls at once if the event loop is busy while that many requests run', () => {
  const rule = ruleOf()
  const limits = [19, 20, 500].map((running) => {
    rule.recordBusyLoop(running)
    return [rule.limit, rule.isGuess]
  })
  expect(limits).toEqual([
    [50, true],
    [20, false],
    [20, false],
  ])
})

test('a guess falls all of the way by one window with a queue, and no further than for a busy process', () => {
  const [guess, proven] = [ruleOf(), ruleOf(36)]
  expect([1.5, 3, 10].map((factor) => move(ruleOf(), { factor, hasDenied: true }))).toEqual([
    [52, true], // a window with 40 requests moves a rise two thirds of the way
    [30, true],
    [27, true],
  ])
  move(guess, { factor: 10, hasDenied: true })
  expect(move(guess, { factor: 10, hasDenied: true })).toEqual([20, false])
  expect(move(proven, { factor: 10, hasDenied: true })).toEqual([45, false]) // two thirds of the way
})

test('a fallen guess does not come back by itself', () => {
  const rule = ruleOf()
  for (let i = 0; i < 2; i++) move(rule, { factor: 10, hasDenied: true })
  expect(move(rule, { peak: 2 })).toEqual([20, false])
})

test('a guess is proven once what it may fall to has grown to it, in windows without a queue', () => {
  const rule = ruleOf()
  const windows = [{ peak: 9 }, { peak: 20, factor: 2 }, { peak: 20, isSurge: true }]
  for (const each of windows) move(rule, each)
  expect(rule.isGuess).toBe(true)
  rule.recordBusyLoop(20)
  expect(rule.limit).toBe(20)
  const used = ruleOf()
  const guesses = [12, 18, 22, 24].map((peak) => move(used, { peak }))
  expect(guesses).toEqual([
    [50, true], // 28 if it is busy
    [50, true], // 39
    [50, false],
    [50, false],
  ])
})

test('a process that becomes busy keeps as many places as it has used without a queue', () => {
  const rule = ruleOf()
  move(rule, { peak: 12 })
  const limits = [28, 29].map((running) => {
    rule.recordBusyLoop(running)
    return [Math.round(rule.limit), rule.isGuess]
  })
  expect(limits).toEqual([
    [50, true],
    [28, false],
  ])
})

test('a probe ends a guess', () => {
  const rule = ruleOf()
  rule.startProbe(false)
  expect([rule.limit, rule.isGuess]).toEqual([50, false])
  const overloaded = ruleOf()
  overloaded.startProbe(true)
  expect([overloaded.limit, overloaded.isGuess]).toEqual([20, false])
})

test('whatever the windows are, the limit stays within its bounds', () => {
  const rule = ruleOf(0, { min: 5, max: 70 })
  for (let i = 0; i < 1000; i++) {
    const factor = [0.001, 0.5, 1, 1.4, 1.5, 3, 1e6][i % 7]
    move(rule, { factor, peak: [0, 25, 40, 100][i % 4], isSurge: i % 3 === 0, hasDenied: i % 5 === 0 })
    if (rule.limit < 5 || rule.limit > 70) throw new Error(`step ${i}: the limit is ${rule.limit}`)
  }
  expect(rule.isGuess).toBe(false)
})
