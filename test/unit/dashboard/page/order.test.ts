import { pageModule } from '../../../support/page-module.js'

interface Row {
  readonly name: string
  readonly mode: string
  readonly finding: { readonly level: string; readonly kind: string; readonly sentence: string }
  readonly deniedPerSecond: number
}

const { worstFirst, filtered, levelCounts } = pageModule<{
  worstFirst(rows: readonly Row[]): Row[]
  filtered(rows: readonly Row[], route: { state: string; search: string }): Row[]
  levelCounts(rows: Iterable<Row>, headlines?: readonly Pick<Row, 'finding'>[]): Record<string, number>
}>('order.js')

function row(name: string, level: string, kind: string, deniedPerSecond = 0): Row {
  return { name, mode: 'enforce', finding: { level, kind, sentence: `${kind} at ${name}` }, deniedPerSecond }
}

const ROWS = [
  row('calm-10', 'calm', 'calm', 3),
  row('calm-9', 'calm', 'calm', 0),
  row('plan', 'warning', 'few-denied', 90),
  row('crowd', 'warning', 'many-denied', 900),
  row('attacked', 'critical', 'account-attacked', 2),
  row('down', 'critical', 'store-outage', 0),
]
const names = (rows: readonly Row[]) => rows.map(({ name }) => name)

test('the worst rows come first: by level, by kind, and names in the order that people expect', () => {
  expect(names(worstFirst(ROWS))).toEqual(['down', 'attacked', 'plan', 'crowd', 'calm-9', 'calm-10'])
})

test('rows do not change places while rates waver, and do when one is of another magnitude', () => {
  const pair = (a: number, b: number) =>
    names(worstFirst([row('a', 'warning', 'few-denied', a), row('b', 'warning', 'few-denied', b)]))
  expect([pair(5, 6), pair(6, 5), pair(5, 15)]).toEqual(Array(3).fill(['a', 'b']))
  expect(pair(5, 50)).toEqual(['b', 'a'])
  expect([pair(0, 0.01), pair(0.01, 0)]).toEqual(Array(2).fill(['a', 'b']))
})

test('the order of 200 rows does not depend on the order in which they arrive', () => {
  const rows = Array.from({ length: 200 }, (_, i) =>
    row(`r${i}`, ['critical', 'warning', 'calm'][i % 3] as string, 'many-denied', i % 50),
  )
  expect(names(worstFirst(rows.toReversed()))).toEqual(names(worstFirst(rows)))
})

test.each<readonly [state: string, search: string, found: readonly string[]]>([
  ['', '', names(ROWS)],
  ['warning', '', ['plan', 'crowd']],
  ['', ' CALM-1 ', ['calm-10']],
  ['', 'account-attacked', ['attacked']],
  ['calm', 'plan', []],
])('a state %j and a text %j find what they should', (state, search, found) => {
  expect(names(filtered(ROWS, { state, search }))).toEqual(found)
})

test('levels are counted', () => {
  expect(levelCounts(ROWS)).toEqual({ critical: 2, warning: 2, calm: 2 })
})

test('levels count rows, and processes that vanished, but no store, whose limiters have rows', () => {
  const headlines = [
    { finding: { level: 'warning', kind: 'process-gone', sentence: '' } },
    { finding: { level: 'critical', kind: 'store-outage', sentence: '' } },
  ]
  expect(levelCounts([row('a', 'critical', 'store-outage'), row('b', 'calm', 'calm')], headlines)).toEqual({
    critical: 1,
    warning: 1,
    calm: 1,
  })
})
