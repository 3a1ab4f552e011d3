import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { printedRun, printedTables } from './printed-tables.js'

const page = readFileSync(join(resolve(__dirname, '../../..'), 'docs/stores/durable-objects.md'), 'utf8')
const [printed] = printedTables(printedRun('test/tools/results/durable-objects-losses.txt'))

test('the page about Durable Objects has the losses of the printed run', () => {
  expect(printed?.rows).toHaveLength(2)
  for (const row of printed?.rows ?? []) {
    const [, ...figures] = Object.values(row).reverse()
    const name = row.objects?.replace(/writeDelay(: .*)?$/, '`$&`')
    expect(page).toContain(`| ${[name, ...figures].join(' | ')} |`)
  }
})
