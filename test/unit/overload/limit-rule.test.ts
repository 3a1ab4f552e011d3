import fc from 'fast-check'
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

test('a window with a queue moves a guess all of the way, and other limits by its samples', () => {
  const of = (running: number, count: number) => move(ruleOf(running), { factor: 10, count, hasDenied: true })
  expect([of(0, 40), of(0, 10), of(0, 9), of(36, 40)]).toEqual([
    [32, true],
    [32, true],
    [44, true], // too few samples: a third of the way
    [45, false], // two thirds of the way from 60
  ])
})

test('a guess that has fallen as far as it may at once comes back no further', () => {
  const rule = ruleOf()
  const fallen = [1, 2, 3].map(() => move(rule, { factor: 10, hasDenied: true }))
  expect(fallen).toEqual([
    [32, true],
    [22, true],
    [16, false],
  ])
  expect(move(rule, { peak: 2 })).toEqual([20, false])
})

test('a guess is proven by a window with half of it used and no queue, unless it is a surge', () => {
  const windows = [
    { peak: 24 },
    { peak: 30, factor: 1.5 },
    { peak: 30, isSurge: true },
    { peak: 25 },
    { peak: 30, hasDenied: true },
  ]
  expect(windows.map((each) => move(ruleOf(), each)[1])).toEqual([true, true, true, false, false])
})

test('what a guess may fall to grows by the same rule', () => {
  const windows = [
    { peak: 9 },
    { peak: 12, factor: 3 },
    { peak: 12 },
    { peak: 12, isSurge: true },
    { peak: 40, isSurge: true },
  ]
  const limits = windows.map((each) => {
    const rule = ruleOf()
    move(rule, each)
    const [before] = [Math.round(rule.limit), rule.recordBusyLoop(1000)]
    return [before, Math.round(rule.limit), rule.isGuess]
  })
  expect(limits).toEqual([
    [50, 20, false],
    [50, 20, false],
    [50, 28, false],
    [50, 32, false], // all of the way, as it is a surge
    [77, 32, false],
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

test('whatever happens, the limit stays within its bounds, and a busy loop never raises it', () => {
  const events = fc.oneof(
    fc.record({ kind: fc.constant('move'), factor: fc.double({ min: 0.001, max: 1e6, noNaN: true }) }),
    fc.record({ kind: fc.constantFrom('busy', 'late', 'start probe', 'end probe') }),
  )
  const at = fc.record({ event: events, peak: fc.nat(100), count: fc.nat(50), isTrue: fc.boolean() })
  fc.assert(
    fc.property(fc.nat(80), fc.array(at, { maxLength: 60 }), (running, steps) => {
      const rule = ruleOf(running, { min: 5, max: 70 })
      for (const { event, peak, count, isTrue } of steps) {
        const before = rule.limit
        if ('factor' in event)
          move(rule, {
            ...{ factor: event.factor, peak, count: count + 1 },
            isSurge: isTrue,
            hasDenied: count % 2 > 0,
          })
        else if (event.kind === 'busy') rule.recordBusyLoop(peak)
        else if (event.kind === 'late') rule.followLoop(lateWindow(peak))
        else if (event.kind === 'start probe') rule.startProbe(isTrue)
        else rule.endProbe(count / 10)
        if (event.kind === 'busy' || event.kind === 'late') expect(rule.limit).toBeLessThanOrEqual(before)
        if (!(rule.limit >= 5 && rule.limit <= 70)) throw new Error(`the limit is ${rule.limit}`)
      }
    }),
  )
})

function lateWindow(peak: number): Window {
  const window = new Window(0, 0, 0)
  window.end(peak)
  window.addLoopDelay(200)
  return window
}
