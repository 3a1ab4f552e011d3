import { cellsOf } from './rows.js'

const page = (...lines: string[]) => ({ path: 'docs/moving.md', text: lines.join('\n') })
const OPTIONS = '<!-- rows: express-rate-limit, rateLimit, text -->'
const HEAD = ['| theirs | headgate | what differs |', '|---|---|---|']

test('each code span of a described table is a block with its line and column', () => {
  const cells = cellsOf(
    page(
      '| not described | `a: 1` |',
      OPTIONS,
      '',
      ...HEAD,
      '| `max: 5` | `limit: 5` | `not code` |',
      '| `validate: a \\|\\| b` | – | always |',
      '',
      '| `another: 1` | `table: 2` | |',
    ),
  )
  expect(cells.map(({ line, column }) => [line, column])).toEqual([
    [6, 1],
    [6, 2],
    [7, 1],
  ])
  expect(cells[1]?.code).toContain("app.use(rateLimit({ window: '1m', limit: 5 }))")
  expect(cells[2]?.code).toContain('validate: a || b')
})

test.each([
  [[OPTIONS, 'prose'], 'docs/moving.md:1: no table follows'],
  [[OPTIONS, ...HEAD, '| `max: 5` | `limit: 5` |'], 'docs/moving.md:4: not 3 cells'],
  [[OPTIONS, ...HEAD, '| `max: 5` | write `limit` | |'], 'docs/moving.md:4: neither a code span nor –'],
  [['<!-- rows: rateLimitt options -->', ...HEAD, '| |'], 'docs/moving.md:1: there is no kind rateLimitt'],
])('a table whose cells cannot be tested is an error (%#)', (lines, message) => {
  expect(() => cellsOf(page(...lines))).toThrow(message)
})
