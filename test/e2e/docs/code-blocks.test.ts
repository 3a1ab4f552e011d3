import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { demoBlocks, EXAMPLES } from '../demo-examples.js'
import { commentPagesOf } from './doc-comments.js'
import { blocksOf, brokenLinks, pagesOf, scriptsIn } from './pages.js'
import { cellsOf } from './rows.js'
import { isRun, isWorker, type Outcome, placeOf, tryBlocks } from './run-blocks.js'

const ROOT = resolve(__dirname, '../../..')
const pages = pagesOf(ROOT)
const blocks = [...pages, ...commentPagesOf(ROOT)].flatMap(blocksOf)
const code = [...blocks.filter(isRun), ...pages.flatMap(cellsOf)]

/** Languages that are shown and not run. Others, such as `typescript`, would go untested unseen. */
const SHOWN = ['sh', 'text', 'http', 'json', 'html', 'lua', 'sql', 'yaml', 'diff', 'mermaid']

test('the README has code blocks', () => {
  expect(code.filter(({ page }) => page === 'README.md')).not.toEqual([])
})

test('the doc comments of sources have code blocks', () => {
  expect(code.filter(({ page }) => page.startsWith('src/'))).not.toEqual([])
})

test('every block says in which language it is: ts, js or cjs, which are run, or one that is only shown', () => {
  const others = blocks.filter(
    (block) => !isRun(block) && !isWorker(block) && !SHOWN.includes(block.language),
  )
  expect(others.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([])
})

test('every npm script that a page names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const named = blocks.filter(({ language }) => language === 'sh').flatMap((block) => scriptsIn(block.code))
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
})

test('every relative link leads to a file, and to a heading in it', () => {
  expect(pages.flatMap((page) => brokenLinks(ROOT, page).map((link) => `${page.path}: ${link}`))).toEqual([])
})

let outcomes: Outcome[]

beforeAll(async () => {
  outcomes = await tryBlocks([...code, ...(await demoBlocks())])
}, 900_000)

for (const [i, block] of code.entries()) {
  const place = `${block.page}:${placeOf(block)}`

  test(`the code at ${place} has sound types`, () => {
    expect(outcomes[i]?.typeErrors).toEqual([])
  })

  test(`the code at ${place} runs, and its servers answer`, () => {
    expect(outcomes[i]?.runErrors).toEqual([])
  })
}

const examples = EXAMPLES.flatMap((name) => ['ts', 'js'].map((language) => [name, language]))

test.each(examples)(
  'the code of the demo, %s.%s, has sound types, and its server answers',
  (name, language) => {
    const { typeErrors, runErrors } =
      outcomes.find(({ block }) => block.page === `demo-${name}` && block.language === language) ?? {}
    expect({ typeErrors, runErrors }).toEqual({ typeErrors: [], runErrors: [] })
  },
)
