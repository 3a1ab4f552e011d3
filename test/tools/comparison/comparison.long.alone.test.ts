import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { RESULTS, read } from './printed.js'

/** A count may differ by one: a client may miss a moment. */
const isClose = (cell: string, printed: string) =>
  /^\d/.test(printed)
    ? Math.abs(Number.parseInt(cell, 10) - Number.parseInt(printed, 10)) <= 1
    : cell === printed

test('each package still does what the table says', async () => {
  const args = ['--import', 'tsx', join(__dirname, 'main.ts'), '--probes']
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 170_000 })
  const now = read(stdout)
  const { heads, rows } = read(readFileSync(RESULTS, 'utf8'))
  expect(now.heads).toEqual(heads)
  expect(Object.keys(now.rows)).toHaveLength(8)
  const differing = Object.entries(now.rows).flatMap(([question, cells]) =>
    cells.flatMap((cell, i) => {
      const printed = rows[question]?.[i] ?? ''
      return isClose(cell, printed) ? [] : [`${question}, ${heads[i]}: ${cell} instead of ${printed}`]
    }),
  )
  expect(differing).toEqual([])
}, 180_000)
