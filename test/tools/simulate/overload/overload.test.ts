import { compareGuards, type Figures } from './compare.js'
import { deniedShare } from './denied-share.js'
import { noGuard, overloadGuard } from './guards.js'
import { CALM, FLOOD, SCENARIOS } from './scenarios.js'
import { type OverloadScenario, runOverload } from './world.js'

/** The first seconds of a scenario. */
function first(seconds: number, name: string): OverloadScenario {
  return { ...(SCENARIOS[name] as OverloadScenario), durationMs: 1000 * seconds }
}

test('the same seed gives the same outcome, and another seed another one', () => {
  const scenario = first(2, '2 times')
  const [one, same, other] = [1, 1, 2].map((seed) => runOverload(scenario, overloadGuard, seed))
  expect(same).toEqual(one)
  expect(other).not.toEqual(one)
})

test('each request is answered in time, answered late or denied', () => {
  const { sent, good, late, denied } = runOverload(first(1, '5 times'), overloadGuard, 1)
  expect(good + late + denied).toBe(sent)
  expect(runOverload(first(1, '5 times'), noGuard, 1)).toMatchObject({ denied: 0 })
})

test.each(['2 times', '3 times, own CPU'])('%s: it serves nearly as much as the right limit', (name) => {
  const figures = compareGuards(first(4, name), 1, ['none', 'headgate'])
  const [none, ours] = [figures.get('none'), figures.get('headgate')].map((each) => (each as Figures[])[0])
  expect([(none?.goodput ?? 1) < 0.3, (ours?.goodput ?? 0) > 0.9]).toEqual([true, true])
})

test.each(CALM)('%s: nothing is denied', (name) => {
  expect(runOverload(first(4, name), overloadGuard, 1)).toMatchObject({ denied: 0, late: 0 })
})

test('when a healthy server gets ten times the requests at once, few are denied, and only for a second', () => {
  const { durationMs, ...jump } = first(46, 'healthy, 200 ms, from 50 to 500 a second')
  const [second, later] = [31_500, durationMs].map(
    (untilMs) => runOverload({ ...jump, durationMs: untilMs }, overloadGuard, 6).denied,
  )
  expect([(second ?? 0) > 0, (second ?? 1000) < 250, later]).toEqual([true, true, second])
})

test('a client that floods is denied, and the others are served', () => {
  const scenario = first(10, 'a client that floods')
  const [others, flood] = [false, true].map((isFlood) =>
    deniedShare(scenario, 1, ({ client, bornAtMs }) => bornAtMs > 2000 && (client === FLOOD) === isFlood),
  )
  expect([(others ?? 1) < 0.15, (flood ?? 0) > 0.7, (flood ?? 1) < 0.8]).toEqual([true, true, true])
})

test('a server with little traffic denies none as soon as an overload is over', () => {
  const scenario = SCENARIOS['little traffic after an overload'] as OverloadScenario
  const [during, after] = [false, true].map((isAfter) =>
    deniedShare(scenario, 1, ({ bornAtMs }) => bornAtMs >= 10_000 === isAfter),
  )
  expect([(during ?? 0) > 0.4, after]).toEqual([true, 0])
})
