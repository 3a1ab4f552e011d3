import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Block, blocksOf, brokenLinks, pagesOf, scriptsIn } from './pages.js'
import { isRun, tryBlocks } from './run-blocks.js'

const page = (...lines: string[]) => ({ path: 'README.md', text: lines.join('\n') })
const codeOf = (...lines: string[]): Block[] => blocksOf(page(...lines)).filter(isRun)

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

test('good blocks pass, and each bad one is reported with its line', async () => {
  const blocks = codeOf(
    '```ts',
    "import express from 'express'",
    "import { rateLimit } from 'headgate'",
    'const app = express()',
    "app.use(rateLimit({ limit: 100, window: '1m' }))",
    'app.listen(3000)',
    '```',
    '<!-- continues -->',
    '```ts',
    "app.get('/fails', () => { throw new Error('at request') })",
    '```',
    '<!-- with: app, login -->',
    '```ts',
    "import { byField, rateLimit } from 'headgate'",
    "app.post('/login', rateLimit({ limit: 5, window: '3m', key: byField('username') }), login)",
    "app.get('/me', (req, res) => { res.json(req.user?.plan === 'pro') })",
    '```',
    '```js',
    "import { tokenBucket } from 'headgate'",
    'tokenBucket({ capacity: 0, refill: 1 })',
    '```',
    '```cjs',
    "const { memoryStore } = require('headgate')",
    "setImmediate(() => { throw new Error(memoryStore().name + ' later') })",
    '```',
  )
  const outcomes = await tryBlocks(blocks)
  const reported = outcomes.map(({ typeErrors, runErrors }) => [typeErrors.join('\n'), runErrors.join('\n')])
  expect(reported).toEqual([
    ['', ''],
    ['', expect.stringContaining('GET /fails was answered 500')],
    ['', ''],
    [expect.stringContaining('-19.js(20,'), expect.stringContaining('tokenBucket: ')],
    ['', expect.stringContaining('memory later')],
  ])
}, 60_000)

test('a type that only our own settings accept is reported', async () => {
  const [outcome] = await tryBlocks(
    codeOf(
      '```ts',
      "const found = Math.random() > 2 ? { name: 'ada' } : {}",
      'export const headers: Record<string, string> = found',
      '```',
    ),
  )
  expect(outcome?.typeErrors).toEqual([expect.stringContaining('TS2322')])
}, 60_000)

test('named blocks are files of one folder; tests among them run, and what fails is reported', async () => {
  const blocks = codeOf(
    '<!-- file: one.ts -->',
    '```ts',
    'export const one: number = 1',
    '```',
    '<!-- file: good.test.ts -->',
    '```ts',
    "import assert from 'node:assert'",
    "import { test } from 'node:test'",
    "import { one } from './one.js'",
    "test('one', () => assert.equal(one, 1))",
    '```',
    '<!-- file: bad.test.js -->',
    '```js',
    "import assert from 'node:assert'",
    "import { test } from 'node:test'",
    "test('two', () => assert.equal(1, 2))",
    '```',
    '<!-- file: unused.js -->',
    '```js',
    'export {}',
    '```',
  )
  const outcomes = await tryBlocks(blocks)
  expect(outcomes.map(({ typeErrors }) => typeErrors)).toEqual([[], [], [], []])
  expect(outcomes.map(({ runErrors }) => runErrors)).toEqual([
    [],
    [],
    [expect.stringContaining('not ok 1 - two')],
    ['no other block names ./unused.js'],
  ])
}, 60_000)

test('a block that never ends is reported, and so are those after it', async () => {
  const blocks = codeOf(
    '```js',
    'await new Promise((done) => setTimeout(done, 1e9))',
    '```',
    '```js',
    '1',
    '```',
  )
  const outcomes = await tryBlocks(blocks, 3000)
  expect(outcomes.map(({ runErrors }) => runErrors)).toEqual(
    Array(2).fill([expect.stringContaining('never run')]),
  )
}, 60_000)
