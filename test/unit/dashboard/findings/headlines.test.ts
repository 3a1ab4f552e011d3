import type { OverviewRow, ShownOutage, ShownProcess } from '../../../../src/dashboard/figures/shown.js'
import { headlinesOf } from '../../../../src/dashboard/findings/headlines.js'
import { NOW_MS, SINCE, SINCE_MS } from './figures.js'

const STORE = { store: 'redis', storeState: 'closed', longestBlockMs: 0, hasSettings: true } as const

function row(
  name: string,
  level: 'critical' | 'warning' | 'calm',
  kind: OverviewRow['finding']['kind'],
): OverviewRow {
  const finding = { kind, level, sentence: `about ${name}`, identities: [], networks: [], routes: [] }
  const rates = { allowedPerSecond: 1, deniedPerSecond: 1, deniedShare: 0.5 }
  return { name, mode: 'enforce', finding, ...rates, ...STORE }
}

function shownProcess(pid: number, state: ShownProcess['state'], share = 0.25): ShownProcess {
  const times = { startedAtMs: 0, lastSeenMs: state === 'alive' ? NOW_MS : SINCE_MS }
  return { id: `${pid}`, host: `web-${pid}`, pid, version: '1.0.0', ...times, state, share, isThis: false }
}

const outage = (texts: readonly string[]): ShownOutage => ({
  store: 'redis',
  servers: [],
  sinceMs: SINCE_MS,
  effects: texts.map((text, i) => ({ limiter: `limiter-${i}`, text })),
  decisions: 0,
  processes: 1,
})

const sentences = (...args: Parameters<typeof headlinesOf>) =>
  headlinesOf(...args).map(({ finding }) => finding.sentence)

test('the most urgent comes first, and calm rows do not come at all', () => {
  const rows = [
    row('a', 'warning', 'few-denied'),
    row('b', 'critical', 'network-denied'),
    row('c', 'calm', 'calm'),
  ]
  expect(headlinesOf(rows, [], []).map(({ limiter }) => limiter)).toEqual(['b', 'a'])
})

test('a store that many limiters share has one headline', () => {
  const rows = ['a', 'b'].map((name) => row(name, 'critical', 'store-outage'))
  expect(sentences(rows, [outage(['requests are denied', 'requests are denied'])], [])).toEqual([
    `redis has not replied since ${SINCE}: requests are denied`,
  ])
  expect(sentences(rows, [outage(['requests are denied', 'requests are allowed'])], [])).toEqual([
    `redis has not replied since ${SINCE}: 2 limiters are affected`,
  ])
})

test('processes that are gone have one headline, and those that were closed have none', () => {
  const alive = [1, 2, 3].map((pid) => shownProcess(pid, 'alive'))
  expect(sentences([], [], [...alive, shownProcess(4, 'gone')])).toEqual([
    `web-4 (pid 4), which decided 25 % of the requests, has been silent since ${SINCE}: 3 of 4 processes still report`,
  ])
  expect(sentences([], [], [...alive, shownProcess(4, 'gone', 0), shownProcess(5, 'gone', 0)])).toEqual([
    `web-4 (pid 4) and web-5 (pid 5) have been silent, the first of them since ${SINCE}: 3 of 5 processes still report`,
  ])
  expect(sentences([], [], [...alive, shownProcess(4, 'closed')])).toEqual([])
  const four = [2, 3, 4, 5].map((pid) => shownProcess(pid, 'gone', 0.5))
  expect(sentences([], [], [shownProcess(1, 'alive'), ...four])).toEqual([
    `web-2 (pid 2), web-3 (pid 3) and 2 other processes have been silent, the first of them since ${SINCE}: 1 of 5 processes still reports`,
  ])
})

test('an outage precedes an attack, and an attack a process that is gone', () => {
  const rows = [row('a', 'critical', 'network-denied')]
  expect(sentences(rows, [outage([])], [shownProcess(1, 'alive'), shownProcess(2, 'gone', 0)])).toEqual([
    `redis has not replied since ${SINCE}`,
    'about a',
    `web-2 (pid 2) has been silent since ${SINCE}: 1 of 2 processes still reports`,
  ])
})
