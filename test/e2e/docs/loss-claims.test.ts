import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { printedRun, printedTables } from './printed-tables.js'

const ROOT = resolve(__dirname, '../../..')
const [printed] = printedTables(printedRun('test/tools/results/losses.txt'))
const rows = printed?.rows ?? []

const FIGURES = ['sent', 'allowed', 'unknown', 'counted', 'lost', 'doubled']
const cellsOf = (row: Readonly<Record<string, string>>, ...heads: readonly string[]) =>
  `| ${heads.map((head) => row[head]).join(' | ')} |`

test('every row of the printed run stands on the page about reliability', () => {
  const page = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8')
  expect(rows).toHaveLength(18)
  for (const row of rows) expect(page).toContain(cellsOf(row, 'store', 'failure', ...FIGURES))
})

test('the page about Durable Objects has its rows', () => {
  const page = readFileSync(join(ROOT, 'docs/stores/durable-objects.md'), 'utf8')
  const ofObjects = rows.filter(({ store }) => store === 'Durable Objects')
  expect(ofObjects).toHaveLength(3)
  for (const row of ofObjects) expect(page).toContain(cellsOf(row, 'failure', ...FIGURES))
})

test('nothing was counted twice, and only `writeDelay` lost units', () => {
  expect(rows.filter(({ doubled }) => doubled !== '0')).toEqual([])
  const losing = rows.filter(({ lost }) => lost !== '0').map(({ failure }) => failure)
  expect(losing).toEqual(["objects reset, `writeDelay: '1s'`"])
})
