import { compareGuards, type Figures } from './compare.js'
import { deniedShare } from './denied-share.js'
import { CALM, FLOOD, SCENARIOS } from './scenarios.js'
import type { OverloadScenario } from './world.js'

const SEEDS = 10

/** Recovery takes 3 s at most, and longer only after this: a probe that measured the stall needs another one. */
const SLOWEST_S: Readonly<Record<string, number>> = { 'a stall of 10 s': 5 }

/** What of a server that is never full may be denied at most. Elsewhere, nothing may be. */
const FEW = {
  // more requests run than four standard deviations explain
  'healthy, 10 s, 5 a second': 0.001,
  // ten times as many requests at once
  'healthy, 200 ms, from 50 to 500 a second': 0.005,
  // with waits of 50 ms, no limit can deny none
  '0.7 times, 1 and 50 ms, 10 min': 0.002,
}

function figuresOf(name: string): readonly Figures[] {
  const scenario = SCENARIOS[name]
  if (scenario === undefined) throw new Error(`There is no scenario "${name}".`)
  return compareGuards(scenario, SEEDS, ['headgate']).get('headgate') as readonly Figures[]
}

test.each(Object.keys(SCENARIOS))(
  '%s: it serves 0.9 of what the right fixed limit does, and recovers',
  (name) => {
    const figures = figuresOf(name)
    const worst = Math.min(...figures.map(({ goodput }) => goodput))
    const slowest = Math.max(...figures.map(({ recoveryS = 0 }) => recoveryS))
    expect([worst >= 0.9, slowest <= (SLOWEST_S[name] ?? 3)]).toEqual([true, true])
  },
)

test.each(CALM)('%s: nothing is denied', (name) => {
  expect(figuresOf(name).map(({ denied }) => denied)).toEqual(Array(SEEDS).fill(0))
})

test.each(Object.entries(FEW))('%s: less than %d of the requests are denied', (name, share) => {
  expect(Math.max(...figuresOf(name).map(({ denied }) => denied))).toBeLessThan(share)
})

test('critical requests take at most twice as long as on an idle server', () => {
  const figures = figuresOf('classes at 5 times')
  expect(Math.max(...figures.map(({ criticalP99Ms = 0 }) => criticalP99Ms))).toBeLessThan(92)
})

test.each(['a heavy tenant', '10,000 invented tenants', '50 more each second', '200 that stay'])(
  '%s: the worst tenant of a hundred loses less than 1 percent',
  (name) => {
    expect(Math.max(...figuresOf(name).map(({ worstTenant = 1 }) => worstTenant))).toBeLessThan(0.01)
  },
)

const SCENARIO_OF_FLOOD = SCENARIOS['a client that floods'] as OverloadScenario

test.each([1, 2, 3, 4, 5])('seed %d: the others lose at most a tenth to a client that floods', (seed) => {
  const [others, flood] = [false, true].map((isFlood) =>
    deniedShare(
      SCENARIO_OF_FLOOD,
      seed,
      ({ client, bornAtMs }) => bornAtMs > 2000 && (client === FLOOD) === isFlood,
    ),
  )
  // it sends twice the capacity, and half of it is left
  expect([(others ?? 1) < 0.1, (flood ?? 0) > 0.7, (flood ?? 1) < 0.76]).toEqual([true, true, true])
})

test.each([1, 2, 3, 4, 5])('seed %d: after an overload, little traffic is served completely', (seed) => {
  const scenario = SCENARIOS['little traffic after an overload'] as OverloadScenario
  expect(deniedShare(scenario, seed, ({ bornAtMs }) => bornAtMs >= 10_000)).toBe(0)
})

test('the limit does not drift in half an hour', () => {
  const limits = figuresOf('2 times, 30 min').map(({ limit = 0 }) => limit)
  expect(limits.filter((limit) => limit < 6 || limit > 40)).toEqual([])
})
