import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { withHabits } from '../support/habits.js'

const ROOT = resolve(__dirname, '../..')
const FILES = ['src', 'examples'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:m?[jt]s|tsx)$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(ROOT, folder, name)),
)

/** Returns the comments of a file, with code spans replaced. Comments on consecutive lines are one. */
function commentsIn(code: string): string[] {
  const comments = code.match(/\/\*[\s\S]*?\*\/|(?<!\S)\/\/ .*(?:\n\s*\/\/ .*)*/g) ?? []
  return comments.map((comment) =>
    comment
      .replace(/\n\s*(?:\*|\/\/) ?/g, ' ')
      .replace(/`[^`]*`/g, 'code')
      .replace(/\s+/g, ' ')
      .trim(),
  )
}

test('no comment of the source or the examples has a habit of a translation', () => {
  const comments = FILES.flatMap((file) => commentsIn(readFileSync(file, 'utf8')))
  expect(comments.length).toBeGreaterThan(1000)
  expect(withHabits(comments)).toEqual([])
})

test('comments of several lines are read as one, and strings are ignored', () => {
  const code = [
    '/**',
    ' * Has a name of its',
    ' * own, as in `a, too.`',
    ' */',
    "const url = 'https://headgate.test' // is no name",
    'call()',
    '// here somebody',
    '// waits',
  ].join('\n')
  const comments = ['/** Has a name of its own, as in code /', '// is no name', '// here somebody waits']
  expect(commentsIn(code)).toEqual(comments)
  expect(withHabits([...commentsIn(code), 'there is no name', 'it is no longer one'])).toEqual(comments)
})
