import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { printedRun } from './printed-tables.js'

const page = readFileSync(join(resolve(__dirname, '../../..'), 'docs/reliability.md'), 'utf8')
const prose = page.replace(/\s+/g, ' ')

/**
 * The lines of the printed run of all combinations, each with its cells; those with a broken bound say so.
 */
const printed = printedRun('test/tools/results/faults.txt').split(/^ {2}store {6}fault .*\n/m)[1] ?? ''
const combinations = [...printed.matchAll(/^ {2}(\S.*)\n(?: {4}(BROKEN.*)\n)?/gm)].map(
  ([, line = '', broken]) => {
    const [, fault, , requests, p50, , p999, , , , , otherwise, , , first, steady] = line.split(/ {2,}/)
    const share = Number(otherwise) / Number(requests)
    const recoveryMs = Math.max(Number(first), Number(steady))
    return { fault, share, p50: Number(p50), p999: Number(p999), recoveryMs, broken }
  },
)
type Combination = (typeof combinations)[number]

const kept = combinations.filter(({ broken }) => broken === undefined)
const most = (of: readonly Combination[], figure: (each: Combination) => number) =>
  Math.max(...of.map(figure))

test('the headline says in how many combinations the bound on waits was broken, and how long waits were', () => {
  const broken = combinations.filter((each) => each.broken !== undefined)
  expect(broken.map((each) => each.broken)).toEqual(
    broken.map(({ p999 }) => `BROKEN: waits of ${p999} ms at p99.9`),
  )
  expect(most(kept, ({ p999 }) => p999)).toBeLessThanOrEqual(120)
  const all = combinations.length
  expect(prose).toContain(
    `In ${kept.length} of ${all} combinations of a store, a fault and a choice, 999 of 1,000 requests waited at most 120 ms. ` +
      `In the other ${broken.length}, on a busy machine, they waited at most ${most(broken, ({ p999 }) => p999)} ms. ` +
      `In each of the ${all}, half of the requests waited at most ${most(combinations, ({ p50 }) => p50)} ms.`,
  )
})

/** The rows of the page's table of faults: the fault, and the cells with figures. */
const rows = [...page.matchAll(/^\| ([^|]+?) \| ([^|]*(?:%|none)[^|]*) \| ([\d.]+) ms \| (.+?) \|$/gm)]

test.each(rows.map(([, fault = '', share = '', p50 = '', back = '']) => ({ fault, share, p50, back })))(
  'the row about $fault has the figures of the printed run',
  ({ fault, share, p50, back }) => {
    const names = fault
      .replace(/ \(.*\)$/, '')
      .replace('killed and restarted', 'killed')
      .split(', ')
    const of = combinations.filter(({ fault }) => names.includes(fault as string))
    expect(of.length).toBeGreaterThan(0)
    const percents = of.map((each) => Math.round(100 * each.share))
    const [least, largest] = [Math.min(...percents), Math.max(...percents)]
    expect(share).toBe(largest === 0 ? 'none' : `${least} to ${largest} %`)
    expect(Number(p50)).toBe(most(of, (each) => each.p50))
    const recovery = most(of, ({ recoveryMs }) => recoveryMs)
    expect(back).toBe(recovery < 50 ? 'at once' : `${(Math.ceil(recovery / 100) / 10).toFixed(1)} s`)
  },
)

test('the table of faults has a row for each fault of the printed run', () => {
  expect(rows).toHaveLength(16)
  expect(combinations).toHaveLength(140)
})
