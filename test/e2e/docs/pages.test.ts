import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commentsOf } from './doc-comments.js'
import { blocksOf, brokenLinks, pagesOf, scriptsIn } from './pages.js'

const page = (...lines: string[]) => ({ path: 'README.md', text: lines.join('\n') })

test('a block knows its line, its language and what the comments above say', () => {
  const [first, second] = blocksOf(
    page(
      '# A page',
      '<!-- with: app, login -->',
      '',
      '```ts',
      'one()',
      '```',
      '- <!-- with: app -->',
      '',
      '  <!-- continues -->',
      '  ~~~js',
      '  two(',
      '    2)',
      '  ~~~',
    ),
  )
  expect(first).toEqual({
    page: 'README.md',
    line: 5,
    language: 'ts',
    code: 'one()',
    fixtures: ['app', 'login'],
    continues: false,
  })
  expect(second).toMatchObject({
    line: 11,
    language: 'js',
    code: 'two(\n  2)',
    fixtures: [],
    continues: true,
  })
})

test('a block in a doc comment is on its line of the source', () => {
  const source = page(
    '/** One line. */',
    'export const fence = "```js"',
    '  /**',
    '   * Two.',
    '   *',
    '   * @example',
    '   * ```ts',
    '   * @Two()',
    '   * class A {',
    '   *   b = 2',
    '   * }',
    '   * ```',
    '   * @function',
    '   */',
    '```js',
  )
  expect(blocksOf(commentsOf(source))).toEqual([
    {
      page: 'README.md',
      line: 8,
      language: 'ts',
      code: '@Two()\nclass A {\n  b = 2\n}',
      fixtures: [],
      continues: false,
    },
  ])
})

test('a fence that is never closed is an error', () => {
  expect(() => blocksOf(page('# A page', '```ts', 'one()'))).toThrow('README.md:2')
})

test('scripts are found in commands', () => {
  expect(scriptsIn('npm install && npm start\nnpm test\nnpm run bench -- --quick')).toEqual([
    'start',
    'test',
    'bench',
  ])
})

test('links to missing files and headings are found; code, other sites and generated pages are not checked', () => {
  const root = mkdtempSync(join(tmpdir(), 'headgate-docs-'))
  try {
    mkdirSync(join(root, 'docs'))
    writeFileSync(
      join(root, 'README.md'),
      '[a](docs/a.md#two-words) [b](docs/b.md) [c](docs/a.md#three) `[d](d.md)`',
    )
    writeFileSync(
      join(root, 'docs/a.md'),
      '## Two `words`!\n[up](../README.md) [x](https://localhost/x.md)\n![i](i.png)\n<source srcset="s.png">\n```text\n[e](e.md)\n```\n[f]: f.md',
    )
    for (const folder of ['node_modules/marked', 'api/redis', '.vitepress/cache']) {
      mkdirSync(join(root, 'docs', folder), { recursive: true })
      writeFileSync(join(root, 'docs', folder, 'index.md'), '[g](g.md)')
    }
    const pages = pagesOf(root)
    expect(pages.map(({ path }) => path)).toEqual(['README.md', 'docs/a.md'])
    expect(pages.map((each) => brokenLinks(root, each))).toEqual([
      ['docs/b.md', 'docs/a.md#three'],
      ['i.png', 'f.md', 's.png'],
    ])
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
