import { type Block, blocksOf } from './pages.js'
import { cellsOf } from './rows.js'
import { isRun, type Outcome, tryBlocks } from './run-blocks.js'

// All are tried together: to compile a few takes as long as to compile all.

const OPTIONS = '<!-- rows: express-rate-limit, rateLimit, text -->'
const HEAD = ['| theirs | headgate | what differs |', '|---|---|---|']

const page = (path: string, ...lines: string[]) => ({ path, text: lines.join('\n') })
const codeOf = (path: string, ...lines: string[]): Block[] => blocksOf(page(path, ...lines)).filter(isRun)

const blocks = [
  ...codeOf(
    'README.md',
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
  ),
  ...codeOf(
    'types.md',
    '```ts',
    "const found = Math.random() > 2 ? { name: 'ada' } : {}",
    'export const headers: Record<string, string> = found',
    '```',
  ),
  ...codeOf(
    'named.md',
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
  ),
  ...cellsOf(
    page(
      'docs/moving.md',
      OPTIONS,
      ...HEAD,
      '| `max: 5` | `policy: (req) => (isPro(req) ? pro : free)` | |',
      '| `maximum: 5` | `limitt: 5` | |',
      "| `handler: () => { throw new Error('late') }` | `onDenied: () => { throw new Error('late') }` | |",
      '',
      '<!-- rows: express-rate-limit, rateLimit -->',
      '| theirs | headgate |',
      '|---|---|',
      '| `api.resetKey(req.rateLimit.key)` | `await adjustments(api.limiter).forget(decision)` |',
      '| `api.reset(req)` | `await adjustments(api.limiter).forgive(decision)` |',
      '',
      '<!-- rows: rate-limiter-flexible, createLimiter -->',
      '| theirs | headgate |',
      '|---|---|',
      '| `blockOnConsumed: 4` | `policy: consecutive({ limit: 0 })` |',
      '',
      '<!-- rows: rate-limiter-flexible, createLimiter -->',
      '| theirs | headgate |',
      '|---|---|',
      '| `await limiter.consume(id, 9)` | `await limiter.charge(id, { cost: -1 })` |',
      '',
      '<!-- rows: @nestjs/throttler, headgate/nest -->',
      '| theirs | headgate |',
      '|---|---|',
      '| `ttls: 5` | `limitt: 5` |',
      "| `getTracker: () => { throw new Error('late') }` | `exception: () => { throw new Error('late') }` |",
      '',
      '<!-- rows: @nestjs/throttler, headgate/nest -->',
      '| theirs | headgate |',
      '|---|---|',
      "| `override throwThrottlingException(): never { throw new Error('late') }` | `@Inject('x') limiters: object` |",
      '',
      '<!-- rows: headgate/nest, headgate/nest -->',
      '| theirs | headgate |',
      '|---|---|',
      "| `RateLimitModule.forRoot({ limit: 5, window: '1x' })` | `@RateLimit({ limit: '3', window: '1m' })` |",
    ),
  ),
  ...codeOf(
    'endless.md',
    '```js',
    'await new Promise((done) => setTimeout(done, 1e9))',
    '```',
    '```js',
    '1',
    '```',
  ),
]

let outcomes: Outcome[]

beforeAll(async () => {
  outcomes = await tryBlocks(blocks, 8000, 'long')
})

const outcomesOf = (path: string) => outcomes.filter(({ block }) => block.page === path)

const reportedOf = (path: string) =>
  outcomesOf(path).map(({ typeErrors, runErrors }) => [typeErrors.join('\n'), runErrors.join('\n')])

test('good blocks pass, and each bad one is reported with its line', () => {
  expect(reportedOf('README.md')).toEqual([
    ['', ''],
    ['', expect.stringContaining('GET /fails was answered 500')],
    ['', ''],
    [expect.stringContaining('-19.js(20,'), expect.stringContaining('tokenBucket: ')],
    ['', expect.stringContaining('memory later')],
  ])
})

test('a type that only our own settings accept is reported', () => {
  const [outcome] = outcomesOf('types.md')
  expect(outcome?.typeErrors).toEqual([expect.stringContaining('TS2322')])
})

test('named blocks are files of one folder; tests among them run, and what fails is reported', () => {
  const outcomes = outcomesOf('named.md')
  expect(outcomes.map(({ typeErrors }) => typeErrors)).toEqual([[], [], [], []])
  expect(outcomes.map(({ runErrors }) => runErrors)).toEqual([
    [],
    [],
    [expect.stringContaining('not ok 1 - two')],
    ['no other block names ./unused.js'],
  ])
})

test('good cells pass; wrong options of either package and failing requests are reported', () => {
  expect(reportedOf('docs/moving.md')).toEqual([
    ['', ''],
    ['', ''],
    [expect.stringContaining("'maximum' does not exist"), ''],
    [expect.stringContaining("'limitt' does not exist"), expect.stringContaining('Did you mean limit?')],
    ['', expect.stringContaining('POST / was answered 500')],
    ['', expect.stringContaining('POST / was answered 500')],
    ['', ''],
    ['', ''],
    [expect.stringContaining("'reset' does not exist"), expect.stringContaining('GET / was answered 500')],
    [expect.stringContaining("'forgive' does not exist"), expect.stringContaining('GET / was answered 500')],
    ['', expect.stringContaining('blockOnConsumed')],
    ['', expect.stringContaining('limit must be')],
    ['', expect.anything()],
    ['', expect.stringContaining('cost must be')],
    [expect.stringContaining("'ttls' does not exist"), ''],
    [expect.stringContaining("'limitt' does not exist"), expect.stringContaining('Did you mean limit?')],
    ['', expect.stringContaining('GET / was answered 500')],
    ['', expect.stringContaining('POST / was answered 500')],
    ['', expect.stringContaining('POST / was answered 500')],
    ['', expect.stringContaining('dependencies')],
    ['', expect.stringContaining('window must be')],
    [expect.stringContaining('string'), expect.stringContaining('limit must be')],
  ])
})

test('a block that never ends is reported, and so are those after it', () => {
  expect(outcomesOf('endless.md').map(({ runErrors }) => runErrors)).toEqual(
    Array(2).fill([expect.stringContaining('never run')]),
  )
})
