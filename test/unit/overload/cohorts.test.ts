import { Cohorts, type CohortVerdict } from '../../../src/overload/cohorts.js'
import { randomFrom } from '../../tools/simulate/random.js'

const LIMIT = 16

interface Overload {
  readonly seconds: number
  /** Requests each 10 ms, of which at most 8 find a place. */
  readonly perTurn: number
  readonly priorityOf?: (random: () => number) => number
  readonly clients?: number
  /** Which client sends a request. Default: any. */
  readonly clientOf?: (random: () => number, nowMs: number) => number
}

interface Step {
  readonly nowMs: number
  readonly priority: number
  readonly client: number
  readonly verdict: CohortVerdict
  readonly passes: boolean
}

const hashOf = (client: number) => Math.imul(client + 1, 0x9e3779b1)

/** Plays an overload: 800 places a second, which the first that pass take. */
function play(overload: Overload) {
  const { seconds, perTurn, priorityOf = () => 1, clients = 1000 } = overload
  const { clientOf = (random) => Math.floor(random() * clients) } = overload
  const cohorts = new Cohorts()
  const random = randomFrom(1)
  const steps: Step[] = []
  const shares: number[] = []
  let running = 0
  for (let nowMs = 0; nowMs < 1000 * seconds; nowMs += 10) {
    let free = 8
    for (let i = 0; i < perTurn; i++) {
      const priority = priorityOf(random)
      const client = clientOf(random, nowMs)
      const verdict = cohorts.decide(priority, hashOf(client), nowMs, false)
      steps.push({ nowMs, priority, client, verdict, passes: verdict !== 'denied' })
      if (verdict === 'denied') continue
      if (free-- > 0) cohorts.recordAdmission(running)
      else cohorts.recordUnplaced()
    }
    running = (LIMIT * Math.min(8, 8 - free)) / 8
    cohorts.advance(nowMs, LIMIT, running)
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
  for (const { nowMs, client, passes } of steps) {
    if (nowMs < 5000) continue
    const list = verdicts.get(client) ?? []
    list.push(passes)
    verdicts.set(client, list)
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
  const passed = new Set(steps.filter(({ passes }) => passes).map(({ client }) => client))
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
      if (cohorts.decide(1, random() * 2 ** 32, nowMs, false) !== 'denied') cohorts.recordAdmission(4)
    }
    cohorts.advance(nowMs, LIMIT, 4)
  }
  expect([cohorts.isDenying(0), cohorts.share]).toEqual([false, 1])
})

test.each([1, 0.2])(
  'an idle server with %d requests a second denies none after three of them',
  (perSecond) => {
    const { cohorts } = play({ seconds: 4, perTurn: 80 })
    const verdicts: CohortVerdict[] = []
    for (let i = 1; i <= 6; i++) {
      const nowMs = 4000 + (1000 * i) / perSecond
      cohorts.advance(nowMs, LIMIT, 0)
      const areMostPlacesFree = i <= 3
      verdicts.push(cohorts.decide(0, i, nowMs, areMostPlacesFree))
      cohorts.recordAdmission(1)
    }
    expect([verdicts, cohorts.isDenying(0)]).toEqual([Array(6).fill('passes'), false])
  },
)

test('a second without requests ends no overload while the places are taken', () => {
  const after = [LIMIT, 0].map((running) => {
    const { cohorts } = play({ seconds: 4, perTurn: 80 })
    for (const nowMs of [5000, 6000]) cohorts.advance(nowMs, LIMIT, running)
    return cohorts.isDenying(1)
  })
  expect(after).toEqual([true, false])
})

test('requests that wait still are no overload', () => {
  const cohorts = new Cohorts()
  for (let nowMs = 0; nowMs < 2000; nowMs++) {
    cohorts.decide(1, nowMs, nowMs, false)
    if (nowMs % 10 === 0) cohorts.recordAdmission(LIMIT)
    cohorts.advance(nowMs, LIMIT, LIMIT)
  }
  expect([cohorts.isDenying(0), cohorts.share]).toEqual([false, 1])
})

test('what came before a new window does not count in it', () => {
  const cohorts = new Cohorts()
  const decide = (client: number, nowMs: number) => cohorts.decide(1, client, nowMs, false)
  for (let i = 0; i < 1000; i++) if (decide(i, 0) !== 'denied') cohorts.recordUnplaced()
  cohorts.startWindow(100)
  for (let i = 0; i < 50; i++) if (decide(i, 200) !== 'denied') cohorts.recordAdmission(16)
  cohorts.advance(300, LIMIT, LIMIT)
  expect(cohorts.isDenying(0)).toBe(false)
})

/** 300 requests a second from fifty clients, and 2000 from one that takes another name every ten seconds. */
const FLOOD: Overload = {
  seconds: 25,
  perTurn: 23,
  clientOf: (random, nowMs) =>
    random() < 3 / 23 ? Math.floor(random() * 50) : 1000 + Math.floor(nowMs / 10_000),
}

/** Returns the shares of some steps that passed, by their seconds. */
function passingBySecond(steps: readonly Step[]): number[] {
  const bySecond = Array.from({ length: FLOOD.seconds }, (): Step[] => [])
  for (const each of steps) bySecond[Math.floor(each.nowMs / 1000)]?.push(each)
  return bySecond.map((each) => each.filter(({ passes }) => passes).length / each.length)
}

test('a client that floods is denied before others of its class, steadily, whatever it is called', () => {
  const { steps } = play(FLOOD)
  const [flood, others] = [true, false].map((isFlood) =>
    passingBySecond(steps.filter(({ client }) => client >= 1000 === isFlood)),
  ) as [number[], number[]]
  // of 800 places, 300 are for others. A third more pass than find a place: (800 / 0.75 - 300) / 2000
  const unsteady = flood.slice(2).filter((share) => share < 0.3 || share > 0.45)
  const denied = others.slice(1).filter((share) => share < 0.9)
  expect([unsteady, denied]).toEqual([[], []])
})

test('what a client that floods sends beyond what is usual passes last', () => {
  const late = play(FLOOD).steps.filter(({ nowMs, passes }) => passes && nowMs >= 2000)
  const lastShare = (isFlood: boolean) => {
    const some = late.filter(({ client }) => client >= 1000 === isFlood)
    return some.filter(({ verdict }) => verdict === 'passes last').length / some.length
  }
  expect([lastShare(true) > 0.8, lastShare(false) < 0.05]).toEqual([true, true])
})

test('an office behind one address, among a thousand clients, is served in part', () => {
  const clientOf = (random: () => number) => (random() < 0.1 ? 1000 : Math.floor(random() * 1000))
  const { steps } = play({ seconds: 60, perTurn: 16, clientOf })
  const office = steps.filter(({ client, nowMs }) => client === 1000 && nowMs > 2000)
  const share = office.filter(({ passes }) => passes).length / office.length
  expect([share > 0.15, share < 0.6]).toEqual([true, true])
})

test.each([1, 2, 5])('of %d clients that send alike, none floods', (clients) => {
  const { steps } = play({ seconds: 10, perTurn: 16, clients })
  expect(steps.filter(({ verdict }) => verdict === 'passes last')).toEqual([])
})

test('a page that loads twenty things at once loads completely or not at all', () => {
  const pageAt = (nowMs: number) => nowMs % 3000 === 0 && nowMs > 0
  const clientOf = (random: () => number, nowMs: number) =>
    pageAt(nowMs) ? 1000 : Math.floor(random() * 1000)
  const { steps } = play({ seconds: 60, perTurn: 20, clientOf })
  const pages = steps.filter(({ nowMs }) => pageAt(nowMs))
  const verdicts = new Map<number, Set<CohortVerdict>>()
  for (const { nowMs, verdict } of pages) verdicts.set(nowMs, (verdicts.get(nowMs) ?? new Set()).add(verdict))
  const kinds = [...verdicts.values()].map((each) => [...each].join(' and '))
  expect([verdicts.size, new Set(kinds)]).toEqual([19, new Set(['passes', 'denied'])])
})
