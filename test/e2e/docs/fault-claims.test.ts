import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { printedRun } from './printed-tables.js'
import { proseOf } from './prose.js'

const ROOT = resolve(__dirname, '../../..')
const page = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8')
const prose = proseOf('reliability.md')

/** The combinations of a printed run; those with a broken bound say so. */
function combinationsOf(run: string) {
  const printed = printedRun(`test/tools/results/${run}.txt`).split(/^ {2}store {6}fault .*\n/m)[1] ?? ''
  return [...printed.matchAll(/^ {2}(\S.*)\n(?: {4}(BROKEN.*)\n)?/gm)].map(([, line = '', broken]) => {
    const [store, fault, choice, requests, p50, , p999, , , , , otherwise, , , first, steady] =
      line.split(/ {2,}/)
    const share = Number(otherwise) / Number(requests)
    const recoveryMs = Math.max(Number(first), Number(steady))
    const name = `${store}, ${fault}, ${choice}`
    return { name, fault, share, p50: Number(p50), p999: Number(p999), recoveryMs, broken }
  })
}
const combinations = combinationsOf('faults')
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
    `In ${kept.length} of ${all} combinations, 999 of 1,000 requests waited at most 120 ms, which is the goal. ` +
      `In the other ${broken.length}, on a busy machine, they waited at most ${most(broken, ({ p999 }) => p999)} ms.`,
  )
})

test('the combinations that broke the bound kept it when they ran again alone', () => {
  const alone = combinationsOf('faults-alone')
  const broken = combinations.filter((each) => each.broken !== undefined)
  expect(alone.map(({ name }) => name)).toEqual(broken.map(({ name }) => name))
  expect(alone.map((each) => each.broken)).toEqual(broken.map(() => undefined))
  expect(most(alone, ({ p999 }) => p999)).toBeLessThanOrEqual(120)
})

test('the plot has the longest waits of each fault, of the runs alone where there are such', () => {
  const plot = readFileSync(join(ROOT, 'docs/plots/faults.svg'), 'utf8')
  const [, drawn = ''] = /<desc[^>]*>[^<]*at most 120: ([^<]*)/.exec(plot) ?? []
  const bars = drawn.split('; ').map((bar) => {
    const [, fault = '', ms] = /^(.+?)(?: and restarted)?(?: \(.*\))? (\d+)$/.exec(bar) ?? []
    return [fault, Number(ms)]
  })
  const alone = combinationsOf('faults-alone')
  const last = combinations.map((each) => alone.find(({ name }) => name === each.name) ?? each)
  const faults = [...new Set(last.map(({ fault }) => fault))]
  const waits = faults.map((name) => [
    name,
    most(
      last.filter(({ fault }) => fault === name),
      ({ p999 }) => p999,
    ),
  ])
  expect(Object.fromEntries(bars)).toEqual(Object.fromEntries(waits))
})

test('the first lines say after how long the store decides again', () => {
  const seconds = Math.ceil(most(combinations, ({ recoveryMs }) => recoveryMs) / 100) / 10
  expect(prose).toContain(`The store decides again at most ${seconds.toFixed(1)} s after it is back.`)
})

test('the page says how many kinds of faults there are', () => {
  const kinds = new Set(combinations.map(({ fault }) => fault))
  expect(prose).toContain(`injects ${kinds.size} kinds of faults`)
})

test('no store admitted a unit in the soak that it did not count', () => {
  const run = printedRun('test/tools/results/soak.txt')
  const rows = [...run.matchAll(/^ {2}(?:redis|memcached|mariadb|postgres) .*$/gm)].map(([row]) =>
    row.trim().split(/ +/),
  )
  const [seconds, under] = [1, 9].map((column) => rows.map((row) => Number(row[column])))
  expect(under).toEqual([0, 0, 0, 0])
  expect(seconds?.reduce((sum, each) => sum + each, 0)).toBe(600)
  expect(prose).toContain('In ten minutes, no store admitted a unit that it did not count.')
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
    expect(share).toBe(largest === 0 ? 'none' : `${least} to ${largest}%`)
    expect(Number(p50)).toBe(most(of, (each) => each.p50))
    const recovery = most(of, ({ recoveryMs }) => recoveryMs)
    expect(back).toBe(recovery < 50 ? 'at once' : `${(Math.ceil(recovery / 100) / 10).toFixed(1)} s`)
  },
)

test('the table of faults has a row for each fault of the printed run', () => {
  expect(rows).toHaveLength(16)
  expect(combinations).toHaveLength(140)
})
