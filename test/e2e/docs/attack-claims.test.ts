import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(__dirname, '../../..')
const page = readFileSync(join(ROOT, 'docs/login.md'), 'utf8')
const printed = readFileSync(join(ROOT, 'test/tools/results/attacks.txt'), 'utf8')

/** Each attack of the printed run: its figures without device cookies, and with them. */
const attacks = new Map(
  [...printed.matchAll(/^ {2}(\S.*?) {2,}([\d,]+) ((?: +[\d,]+ +\d+ +\d+ +\d+ of \d+){2})$/gm)].map(
    ([, name, guesses, figures = '']) => {
      const [without, withCookies] = [...figures.matchAll(/([\d,]+) +\d+ +(\d+) +(\d+ of \d+)/g)].map(
        ([, reached, locked, userIn]) => ({ reached, locked, userIn }),
      )
      return [name, { guesses, without, withCookies }]
    },
  ),
)

/** The rows of the page's table of attacks. */
const rows = [
  ...page.matchAll(/^\| ([^|]+) \| ([\d,]+) \| ([\d,]+) \| (\d+ of \d+) \| (\d+ of \d+) \| .+ \|$/gm),
]

test.each(rows.map(([, name, ...cells]) => ({ name, cells: cells.slice(0, 4) })))(
  'the row about $name has the figures of the printed run',
  ({ name, cells }) => {
    const { guesses, without, withCookies } = attacks.get(name) ?? {}
    expect(cells).toEqual([guesses, without?.reached, without?.userIn, withCookies?.userIn])
    expect(withCookies?.reached).toBe(without?.reached)
  },
)

test('the page says how many attacks were simulated, and its table has some of them', () => {
  expect(page.replace(/\s+/g, ' ')).toContain(`plays ${attacks.size} attacks against the default limits`)
  expect(rows).not.toEqual([])
})

test('an account is locked once in the attack that the page says the lock stops', () => {
  const [, name] = rows.find(([row]) => row.endsWith('| `consecutive` |')) ?? []
  expect(attacks.get(name)).toMatchObject({ without: { locked: '1' }, withCookies: { locked: '1' } })
})
