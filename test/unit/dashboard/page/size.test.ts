import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

const FOLDER = join(__dirname, '../../../../src/dashboard/page')
const MAX_SCRIPT_BYTES = 80_000

const scripts = readdirSync(FOLDER).filter((name) => name.endsWith('.js'))

test('the scripts of the page have at most 80 kB, as the package has them', () => {
  const { outputFiles } = buildSync({
    entryPoints: [join(FOLDER, 'main.js')],
    ...{ bundle: true, format: 'esm', minify: true, target: 'es2023', write: false },
  })
  const bytes = outputFiles.reduce((sum, { contents }) => sum + contents.length, 0)
  expect(bytes).toBeGreaterThan(20_000)
  expect(bytes).toBeLessThan(MAX_SCRIPT_BYTES)
})

test('nothing in the page is ever read as HTML or code, or comes from elsewhere', () => {
  const dangerous = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?:/
  const found = scripts.filter((name) =>
    dangerous.test(readFileSync(join(FOLDER, name), 'utf8').replaceAll('http://www.w3.org/2000/svg', '')),
  )
  expect(found).toEqual([])
})
