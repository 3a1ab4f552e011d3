import { readFileSync } from 'node:fs'
import { installed } from './installed.js'
import { PAGE, print, RESULTS, read, tableOn } from './printed.js'

const results = readFileSync(RESULTS, 'utf8')
const { heads, rows } = read(results)

test('docs/comparison.md has the table that the command printed', () => {
  const table = print({ heads, rows })
  expect(tableOn(readFileSync(PAGE, 'utf8'))).toBe(table)
  expect(results).toMatch(/^Command: npm run comparison -- --write\nDate: [\d-]+\n/)
  expect(results.endsWith(`\n\n${table}`)).toBe(true)
  expect(heads).toHaveLength(7)
})

test.each(heads.filter((name) => name !== 'headgate'))(
  'the table has the version of %s that is installed, and its size',
  async (name) => {
    const cells = await installed(name)
    const printed = Object.keys(cells).map((question) => rows[question]?.[heads.indexOf(name)])
    expect(printed).toEqual(Object.values(cells))
  },
)
