import type { OverviewRow, ShownOutage, ShownProcess } from '../../../../src/dashboard/figures/shown.js'
import { headlinesOf } from '../../../../src/dashboard/findings/headlines.js'
import { type Life, replacedIds } from '../../../../src/dashboard/shared/replaced.js'
import { SINCE, SINCE_MS } from './figures.js'
import { PROCESS_SENTENCES, shownProcess } from './sentences.js'

const STORE = {
  store: 'redis',
  storeState: 'closed',
  longestBlockMs: 0,
  hasSettings: true,
  isOverloadGuard: false,
} as const

function row(
  name: string,
  level: 'critical' | 'warning' | 'calm',
  kind: OverviewRow['finding']['kind'],
): OverviewRow {
  const finding = { kind, level, sentence: `about ${name}`, identities: [], networks: [], routes: [] }
  const rates = { allowedPerSecond: 1, deniedPerSecond: 1, blockedPerSecond: 0, deniedShare: 0.5 }
  return { name, mode: 'enforce', finding, ...rates, ...STORE }
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

/** Marks those that another has replaced, as the page's figures do. */
function withReplaced(processes: readonly ShownProcess[]): readonly ShownProcess[] {
  const replaced = replacedIds(processes as readonly (ShownProcess & Life)[])
  return processes.map((process) => (replaced.has(process.id) ? { ...process, state: 'replaced' } : process))
}

test.each(PROCESS_SENTENCES)('processes: %s', (_, processes, sentence) => {
  expect(sentences([], [], withReplaced(processes), ['redis'])).toEqual(
    sentence === undefined ? [] : [sentence],
  )
})

test('an outage precedes an attack, and an attack a process that is gone', () => {
  const rows = [row('a', 'critical', 'network-denied')]
  expect(
    sentences(rows, [outage([])], [shownProcess(1), shownProcess(2, { state: 'gone', share: 0 })]),
  ).toEqual([
    `redis has not replied since ${SINCE}`,
    'about a',
    `web-2 (pid 2) has died, or cannot reach its store: silent since ${SINCE}; 1 of 2 processes still reports`,
  ])
})
