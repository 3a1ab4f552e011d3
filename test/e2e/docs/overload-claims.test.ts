import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { docsWith, PAGE, RESULTS } from '../../tools/overload/docs-tables.js'

const ROOT = resolve(__dirname, '../../..')

test('the tables about overload are those of the printed run', () => {
  const [page, printed] = [PAGE, RESULTS].map((path) => readFileSync(join(ROOT, path), 'utf8')) as [
    string,
    string,
  ]
  expect(docsWith(page, printed)).toBe(page)
})
