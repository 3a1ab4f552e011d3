import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { LOOKS } from '../bench/harness/look.js'

const ROOT = resolve(__dirname, '../..')
const TOKENS = 'examples/demo/page/style/tokens.css' // which the documentation imports

const read = (path: string) => readFileSync(join(ROOT, path))

/** Returns the custom properties that a text sets, by name. */
function tokensIn(path: string): Map<string, string> {
  const declarations = read(path)
    .toString()
    .matchAll(/(--[\w-]+):\s*([^;]+);/g)
  return new Map(Array.from(declarations, ([, name = '', value = '']) => [name, value]))
}

test.each([
  ['favicon of the documentation', 'docs/public/favicon.svg', 'src/dashboard/page/icon.svg'],
  ['logo of the demo', 'examples/demo/page/icon.svg', 'src/dashboard/page/icon.svg'],
  ['colors of the demo', TOKENS, 'src/dashboard/page/tokens.css'],
  ['font of the demo', 'examples/demo/page/style/inter.woff2', 'src/dashboard/page/inter.woff2'],
])('the %s is the file that the dashboard has', (_, one, other) => {
  expect(read(one).equals(read(other))).toBe(true)
})

test.each(['src/cli/replay/html/style.ts', 'examples/login/page.ts'])(
  '%s, whose page is one file, has the same colors',
  (path) => {
    const tokens = tokensIn(TOKENS)
    const own = [...tokensIn(path)]
    expect(own.length).toBeGreaterThan(5)
    expect(own.filter(([name, value]) => tokens.get(name) !== value)).toEqual([])
  },
)

test('each color has a value for light pages and one for dark pages', () => {
  const colors = [...tokensIn(TOKENS)].filter(([name]) => !['--sans', '--mono'].includes(name))
  expect(colors.length).toBeGreaterThan(10)
  for (const [, value] of colors) expect(value).toMatch(/^light-dark\(#[\da-f]{6}, #[\da-f]{6}\)$/)
})

test('plots have the colors of the pages that show them', () => {
  const tokens = tokensIn(TOKENS)
  const { light, dark } = LOOKS
  expect(tokens.get('--brand')).toBe(`light-dark(${light.ours[0]}, ${dark.ours[0]})`)
  expect(tokens.get('--ink')).toBe(`light-dark(${light.text}, ${dark.text})`)
  expect(tokens.get('--muted')).toBe(`light-dark(${light.muted}, ${dark.muted})`)
  expect(tokens.get('--card')).toContain(`(${light.background},`)
  expect(tokens.get('--paper')).toContain(`, ${dark.background})`)
})
