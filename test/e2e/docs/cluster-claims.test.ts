import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { figureIn, printedRun, printedTables } from './printed-tables.js'

const page = readFileSync(join(resolve(__dirname, '../../..'), 'docs/stores/cluster.md'), 'utf8')
const tables = printedTables(printedRun('test/bench/results/cluster.txt'))
const [speeds] = tables

test('the page about node:cluster has the medians of the printed run', () => {
  expect(speeds?.rows).toHaveLength(7)
  for (const row of speeds?.rows ?? [])
    expect(page).toContain(`| ${row.contender} | ${row['decisions/s']} | ${row['CPU µs']} |`)
})

test('more workers are not faster, and Redis needs less CPU time, as the page says', () => {
  const speedOf = (contender: string) => figureIn(tables, 'node:cluster: ', { contender }, 'decisions/s')
  expect(speedOf('node:cluster, 4 workers')).toBeLessThan(speedOf('node:cluster, 1 worker'))
  for (const [workers, against] of [
    ['1', 'Redis, 1 process'],
    ['2', 'Redis, 2 processes'],
    ['4', 'Redis, 4 processes'],
  ] as const)
    expect(figureIn(tables, 'node:cluster against', { workers, against }, 'CPU')).toBeLessThan(1)
})
