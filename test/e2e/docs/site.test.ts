import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { checkGroups, GROUPS } from '../../../docs/.vitepress/pages.js'

test('every page of docs/ is in one group of the sidebar', () => {
  expect(() => checkGroups(GROUPS, resolve(__dirname, '../../../docs'))).not.toThrow()
})

test('pictures in HTML have a path that begins with ./, without which the site cannot be built', () => {
  const docs = resolve(__dirname, '../../../docs')
  const pages = readdirSync(docs).filter((file) => file.endsWith('.md'))
  const paths = pages.flatMap((page) =>
    [
      ...readFileSync(join(docs, page), 'utf8').matchAll(/<(?:img|source)\b[^>]*? (?:src|srcset)="([^"]*)"/g),
    ].map(([, path]) => `${page}: ${path}`),
  )
  expect(paths.length).toBeGreaterThan(0)
  expect(paths.filter((path) => !path.includes(': ./'))).toEqual([])
})

test('a page in no group, one in two groups, and one that does not exist are reported', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-site-'))
  try {
    for (const page of ['index', 'a', 'b']) writeFileSync(join(folder, `${page}.md`), '# A page')
    const groups = [
      { text: 'One', pages: { a: 'A', c: 'C' } },
      { text: 'Two', pages: { a: 'A' } },
    ]
    const problems = 'b.md is in no group; c.md does not exist; a.md is in two groups.'
    expect(() => checkGroups(groups, folder)).toThrow(problems)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
