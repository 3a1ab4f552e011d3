import { cellsOf } from './rows.js'
import { tryBlocks } from './run-blocks.js'

const page = (...lines: string[]) => ({ path: 'docs/moving.md', text: lines.join('\n') })
const OPTIONS = '<!-- rows: express-rate-limit options, rateLimit options, text -->'
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

test('good cells pass; wrong options of either package and failing requests are reported', async () => {
  const tables = page(
    OPTIONS,
    ...HEAD,
    '| `max: 5` | `policy: (req) => (isPro(req) ? pro : free)` | |',
    '| `maximum: 5` | `limitt: 5` | |',
    "| `handler: () => { throw new Error('late') }` | `onLimited: () => { throw new Error('late') }` | |",
    '',
    '<!-- rows: express-rate-limit calls, rateLimit calls -->',
    '| theirs | headgate |',
    '|---|---|',
    '| `api.resetKey(req.rateLimit.key)` | `await api.limiter.forget(decision)` |',
    '| `api.reset(req)` | `await api.limiter.forgive(decision)` |',
    '',
    '<!-- rows: rate-limiter-flexible options, createLimiter options -->',
    '| theirs | headgate |',
    '|---|---|',
    '| `blockOnConsumed: 4` | `policy: consecutive({ limit: 0 })` |',
    '',
    '<!-- rows: rate-limiter-flexible calls, createLimiter calls -->',
    '| theirs | headgate |',
    '|---|---|',
    '| `await limiter.consume(id, 9)` | `await limiter.charge(id, { cost: -1 })` |',
    '',
    '<!-- rows: @nestjs/throttler options, RateLimitModule options -->',
    '| theirs | headgate |',
    '|---|---|',
    '| `ttls: 5` | `limitt: 5` |',
    "| `getTracker: () => { throw new Error('late') }` | `exception: () => { throw new Error('late') }` |",
    '',
    '<!-- rows: ThrottlerGuard methods, Nest parameters -->',
    '| theirs | headgate |',
    '|---|---|',
    "| `override throwThrottlingException(): never { throw new Error('late') }` | `@Inject('x') limiters: object` |",
    '',
    '<!-- rows: Nest modules, Nest decorators -->',
    '| theirs | headgate |',
    '|---|---|',
    "| `RateLimitModule.forRoot({ limit: 5, window: '1x' })` | `@RateLimit({ limit: '3', window: '1m' })` |",
  )
  const outcomes = await tryBlocks(cellsOf(tables))
  const reported = outcomes.map(({ typeErrors, runErrors }) => [typeErrors.join('\n'), runErrors.join('\n')])
  expect(reported).toEqual([
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
}, 60_000)
