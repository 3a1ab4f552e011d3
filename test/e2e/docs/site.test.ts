import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { apiSidebars } from '../../../docs/.vitepress/api-sidebar.js'
import { checkGroups, GROUPS } from '../../../docs/.vitepress/pages.js'
import { pagesOf } from './pages.js'

test('every page of docs/ is in one group of the sidebar', () => {
  expect(() => checkGroups(GROUPS, resolve(__dirname, '../../../docs'))).not.toThrow()
})

test('pictures in HTML have a path that begins with a dot, without which the site cannot be built', () => {
  const pages = pagesOf(resolve(__dirname, '../../..')).filter(({ path }) => path.startsWith('docs/'))
  const paths = pages.flatMap(({ path: page, text }) =>
    [...text.matchAll(/<(?:img|source)\b[^>]*? (?:src|srcset)="([^"]*)"/g)].map(
      ([, path]) => `${page}: ${path}`,
    ),
  )
  expect(paths.length).toBeGreaterThan(0)
  expect(paths.filter((path) => !/: \.\.?\//.test(path))).toEqual([])
})

test('a page in no group, one in two groups, and one that does not exist are reported', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-site-'))
  try {
    for (const path of ['stores', 'api', 'node_modules/marked'])
      mkdirSync(join(folder, path), { recursive: true })
    for (const page of [
      'index',
      'a',
      'b',
      'stores/index',
      'stores/d',
      'api/e',
      'node_modules/marked/README',
    ]) {
      writeFileSync(join(folder, `${page}.md`), '# A page')
    }
    const groups = [
      { text: 'One', pages: { a: 'A', c: 'C', 'stores/': 'Stores' } },
      { text: 'Two', pages: { a: 'A' } },
    ]
    const problems =
      'b.md is in no group; stores/d.md is in no group; c.md does not exist; a.md is in two groups.'
    expect(() => checkGroups(groups, folder)).toThrow(problems)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the sidebar of an API page lists all entries, and the pages of its own entry alone', () => {
  const entryOf = (path: string) => ({
    text: path,
    link: `/api/${path}/`,
    items: [{ text: 'Functions', items: [{ text: 'one', link: `/api/${path}/functions/one.md` }] }],
  })
  const entries = ['headgate', 'headgate/koa', 'headgate/redis'].map(entryOf)
  const linkTo = ({ text, link }: (typeof entries)[number]) => ({ text, link })
  expect(apiSidebars(entries)).toEqual({
    '/api/': entries.map(linkTo),
    ...Object.fromEntries(
      entries.map((entry) => [entry.link, entries.map((each) => (each === entry ? entry : linkTo(each)))]),
    ),
  })
})
