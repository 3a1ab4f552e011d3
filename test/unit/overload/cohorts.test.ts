import { Cohorts } from '../../../src/overload/cohorts.js'
import { randomFrom } from '../../tools/simulate/random.js'

const LIMIT = 16

interface Overload {
  readonly seconds: number
  /** Requests each 10 ms, of which at most 8 find a place. */
  readonly perTurn: number
  readonly priorityOf?: (random: () => number) => number
  readonly clients?: number
}

interface Step {
  readonly nowMs: number
  readonly priority: number
  readonly hash: number
  readonly passes: boolean
}

/** Plays an overload: 800 places a second, which the first that pass take. */
function play({ seconds, perTurn, priorityOf = () => 1, clients = 1000 }: Overload) {
  const cohorts = new Cohorts()
  const random = randomFrom(1)
  const steps: Step[] = []
  const shares: number[] = []
  for (let nowMs = 0; nowMs < 1000 * seconds; nowMs += 10) {
    let free = 8
    for (let i = 0; i < perTurn; i++) {
      const priority = priorityOf(random)
      const hash = Math.imul(Math.floor(random() * clients) + 1, 0x9e3779b1)
      const passes = cohorts.passes(priority, hash, nowMs)
      steps.push({ nowMs, priority, hash, passes })
      if (!passes) continue
      if (free-- > 0) cohorts.recordAdmission(LIMIT)
      else cohorts.recordUnplaced()
    }
    cohorts.advance(nowMs, LIMIT)
    shares.push(cohorts.share)
  }
  return { cohorts, steps, shares }
}

test('without an overload, all pass', () => {
  const { steps, cohorts } = play({ seconds: 5, perTurn: 8 })
  expect([steps.every(({ passes }) => passes), cohorts.isDenying(2)]).toEqual([true, false])
})

test('in an overload, slightly more pass than find a place, and the share is steady', () => {
  const { shares } = play({ seconds: 10, perTurn: 40 })
  const late = shares.slice(shares.length / 2)
  const mean = late.reduce((sum, each) => sum + each, 0) / late.length
  const deviation = Math.sqrt(late.reduce((sum, each) => sum + (each - mean) ** 2, 0) / late.length)
  // a fifth finds a place, and a quarter of those that pass does not: 0.2 / 0.75
  expect([mean > 0.24, mean < 0.29, deviation < 0.03]).toEqual([true, true, true])
})

test('a client keeps its verdict for some seconds', () => {
  const { steps } = play({ seconds: 10, perTurn: 20, clients: 250 })
  const verdicts = new Map<number, boolean[]>()
  for (const { nowMs, hash, passes } of steps) {
    if (nowMs < 5000) continue
    const list = verdicts.get(hash) ?? []
    list.push(passes)
    verdicts.set(hash, list)
  }
  let [changes, pairs] = [0, 0]
  for (const list of verdicts.values()) {
    pairs += list.length - 1
    changes += list.filter((each, i) => i > 0 && each !== list[i - 1]).length
  }
  expect(changes / pairs).toBeLessThan(0.06) // by chance: 2 × 0.27 × 0.73 = 0.39
})

test('no client is denied for ever', () => {
  const { steps } = play({ seconds: 40, perTurn: 12, clients: 20 })
  const passed = new Set(steps.filter(({ passes }) => passes).map(({ hash }) => hash))
  expect(passed.size).toBe(20)
})

test('a request is never denied while one of a lower class passes in the same moment', () => {
  const { steps } = play({ seconds: 8, perTurn: 40, priorityOf: (random) => Math.floor(random() * 3) })
  const lowestPassed = new Map<number, number>()
  for (const { nowMs, priority, passes } of steps) {
    if (passes) lowestPassed.set(nowMs, Math.min(priority, lowestPassed.get(nowMs) ?? 2))
  }
  const denied = steps.filter(({ passes }) => !passes)
  const wrong = denied.filter(({ nowMs, priority }) => priority > (lowestPassed.get(nowMs) ?? 2))
  expect([denied.length > 5000, wrong]).toEqual([true, []])
})

test('when the overload ends, all pass again within two seconds', () => {
  const { cohorts } = play({ seconds: 4, perTurn: 80 }) // of the class 1
  expect([0, 1, 2].map((priority) => cohorts.isDenying(priority))).toEqual([true, true, false])
  const random = randomFrom(2)
  for (let nowMs = 4000; nowMs < 6000; nowMs += 10) {
    for (let i = 0; i < 4; i++) {
      if (cohorts.passes(1, random() * 2 ** 32, nowMs)) cohorts.recordAdmission(4)
    }
    cohorts.advance(nowMs, LIMIT)
  }
  expect([cohorts.isDenying(0), cohorts.share]).toEqual([false, 1])
})

test('requests that wait still are no overload', () => {
  const cohorts = new Cohorts()
  for (let nowMs = 0; nowMs < 2000; nowMs++) {
    if (cohorts.passes(1, nowMs, nowMs) && nowMs % 10 === 0) cohorts.recordAdmission(LIMIT)
    cohorts.advance(nowMs, LIMIT)
  }
  expect([cohorts.isDenying(0), cohorts.share]).toEqual([false, 1])
})

test('a pause begins a new window, in which what was before does not count', () => {
  const cohorts = new Cohorts()
  for (let i = 0; i < 1000; i++) if (cohorts.passes(1, i, 0)) cohorts.recordUnplaced()
  cohorts.pause(100)
  for (let i = 0; i < 50; i++) if (cohorts.passes(1, i, 200)) cohorts.recordAdmission(16)
  cohorts.advance(300, LIMIT)
  expect(cohorts.isDenying(0)).toBe(false)
})
