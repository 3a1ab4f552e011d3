import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { withHabits } from '../../support/habits.js'
import { pagesOf } from './pages.js'
import { sentencesOf } from './sentences.js'

const ROOT = resolve(__dirname, '../../..')
const contributing = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
const pages = [...pagesOf(ROOT), { path: 'CONTRIBUTING.md', text: contributing }]

test('README, CONTRIBUTING and docs have at most 35,000 words, code and tables included, as wc -w counts', () => {
  const words = pages.map(({ text }) => text.trim().split(/\s+/).length)
  expect(words.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(35_000)
})

test.each(pages)('no sentence of $path has over 30 words', (page) => {
  const long = sentencesOf(page).filter(({ words }) => words > 30)
  expect(long.map(({ text, words }) => `${words}: ${text}`)).toEqual([])
})

test.each(pages)('$path has none of the habits of a translation', (page) => {
  expect(withHabits(sentencesOf(page).map(({ text }) => text))).toEqual([])
})

test('sentences end at a full stop, a colon or an item of a list, and code counts as one word', () => {
  const text = [
    '# A title that is no sentence',
    'One `a.b c` two. Three',
    'four: Five six.',
    '- An item',
    '- [A link](a.md). Another',
    '> [!WARNING]',
    '> Take care.',
    '```ts',
    'code()',
    '```',
    '| a | table |',
  ].join('\n')
  expect(sentencesOf({ text }).filter(({ words }) => words > 0)).toEqual([
    { text: 'One code two.', words: 3 },
    { text: 'Three four:', words: 2 },
    { text: 'Five six.', words: 2 },
    { text: 'An item', words: 2 },
    { text: '[A link].', words: 2 },
    { text: 'Another', words: 1 },
    { text: 'Take care.', words: 2 },
  ])
})
