import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../e2e/package/run.js'
import { firstMessage } from '../../support/first-message.js'
import type { Cost } from './costs.js'
import { type DenoPrograms, denoPrograms } from './deno.js'

let programs: DenoPrograms
let costs: readonly Cost[]
beforeAll(async () => {
  programs = await denoPrograms(['costs'])
  costs = await firstMessage(programs.start('costs'))
})
afterAll(() => programs?.remove())

/** For each row of the page: what is counted, and with how many limits if the page does not say. */
const ROWS: Readonly<Record<string, readonly [decision: string, limits: readonly number[]]>> = {
  'allowed, one limit': ['allowed', [1]],
  'allowed, three limits': ['allowed', [3]],
  denied: ['denied', [1, 3]],
  'denied by the [denial cache](../reliability.md)': ['cached', [1, 3]],
  'in conflict with another process': ['in conflict', [1, 3]],
}

const page = readFileSync(join(ROOT, 'docs/stores/deno-kv.md'), 'utf8')
const [, table = ''] = /^\| decision \|.*\n\|[-|\s]+\|\n((?:\|.*\n)+)/m.exec(page) ?? []
const rows = table
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, decision = '', ...figures]) => [decision, figures.slice(0, 2)] as const)

/** Returns the units that a cell such as `2 for each limit, and 1` states. */
function unitsIn(cell: string, limits: number): number {
  const [, units, each, more = 0] = /^(\d+)( for each limit)?(?:, and (\d+))?$/.exec(cell) ?? []
  return Number(units) * (each ? limits : 1) + Number(more)
}

/** Returns the read units and the write units that were counted. */
function counted(decision: string, count: number): readonly number[] {
  const cost = costs.find((each) => each.decision === decision && each.count === count)
  return [Number(cost?.readUnits), Number(cost?.writeUnits)]
}

test('the page has a row for each decision that is counted here', () => {
  expect(rows.map(([decision]) => decision)).toEqual(Object.keys(ROWS))
})

test.each(rows)('a decision takes the units that the page says: %s', (row, cells) => {
  const [decision = '', limits = []] = ROWS[row] ?? []
  for (const count of limits)
    expect(counted(decision, count)).toEqual(cells.map((cell) => unitsIn(cell, count)))
})

test('charges of one client that arrive together take as much as one', () => {
  for (const limits of [1, 3]) expect(counted('together', limits)).toEqual(counted('allowed', limits))
})

test('a `slidingLog` takes more units beyond the sizes that the page names', () => {
  const sizes = /more than (\d+) units, costs a write unit for each KB.*?more than (\d+) units.*?read/s.exec(
    page,
  )
  expect(sizes?.slice(1).map(Number)).toEqual([85, 425])
  expect([85, 100, 425, 450].map((units) => counted('log', units))).toEqual([
    [1, 1],
    [1, 2],
    [1, 4],
    [2, 5],
  ])
})

test('a hundred logs that were read fit into one commit, as new ones do', () => {
  expect(counted('logs', 779)).toEqual([200, 700])
})
