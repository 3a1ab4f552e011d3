import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { figureIn, printedRun, printedTables } from './printed-tables.js'
import { proseOf } from './prose.js'

const ROOT = resolve(__dirname, '../../..')
const RESULTS = 'test/bench/results'
const page = readFileSync(join(ROOT, 'docs/benchmarks.md'), 'utf8')
const prose = proseOf('benchmarks.md')
const runs = readdirSync(join(ROOT, RESULTS)).filter((file) => file.endsWith('.txt'))
const tables = runs.flatMap((file) => printedTables(printedRun(`${RESULTS}/${file}`)))

type Cells = Readonly<Record<string, string>>
const figure = (caption: string, cells: Cells, column: string, nth = 0) =>
  figureIn(tables, caption, cells, column, nth)
const one = (value: number) => value.toFixed(1)
const two = (value: number) => value.toFixed(2)
const times = (value: number) => `${two(value)}x`

const FREE = 'rate-limiter-flexible'
const THEIRS = 'express-rate-limit'
const SAMPLED = 'Live, allowed, 1 client: sampled in the limiter itself'
const THREE = 'Live, three limiters: sampled in the limiter itself'
const sampledUs = (contender: string) => figure(SAMPLED, { contender }, 'µs a request')
const sampledBytes = (contender: string) => figure(SAMPLED, { contender }, 'bytes a request')
const [MEMORY, SCALE, FLOOD] = [
  'Memory store alone',
  'CPU ns per decision by keys held',
  '10,000,000 IPv6 networks',
]
const memory = (contender: string, keys: string, column: string) =>
  figure(MEMORY, { contender, keys }, column)
const DENIED = 'Denied requests over sockets'
const LOGIN = 'A guarded login above an unguarded one'
const COUNTERS = 'rate-limiter-flexible, two counters'
const HOT = 'One hot key on Redis, 200 callers in one process'
const SHARED = '50,000 a second over 4 processes'
const ATTACK = 'Redis under attack'
const PURGE = '50 callers, 500 charges'
const RESTART = 'Dump and restore of a memory store'
const DURATION = 'Expired rows removed behind the charges'
const REQUIRED = 'Loading by require(), after Express'
const IMPORTED = 'Loading by import(), in an empty process'

/** A ratio of a table of many callers: decisions a second, and with `nth` the CPU of the client, or the server. */
const busy = (server: string, contender: string, peer: string, nth = 0) =>
  figure(`${server}, 200 callers in one process`, { contender, keys: '10,000' }, `${peer} /`, nth)
/** How many times as long a single caller waits. */
const waits = (server: string, contender: string, peer: string) =>
  1 / figure(`${server}, one caller`, { contender }, `${peer} /`)
const LIMITER = 'headgate, limiter'
const ON_NODE_REDIS = 'headgate, limiter on redis 6'
const installed = (name: string, column: string) =>
  figure('What is installed, with dependencies', { package: name }, column)
const bundled = (name: string) =>
  figure('In a bundle of esbuild', { import: name }, 'bytes').toLocaleString('en')
const span = (values: number[], format: (value: number) => string) =>
  [...new Set([format(Math.min(...values)), format(Math.max(...values))])].join(' to ')
const [bucket, window, sliding] = ['token bucket', 'fixed window', 'sliding window'].map(
  (policy) => `headgate, ${policy}`,
) as [string, string, string]
const live = (own: string, peer: string, of = sampledUs) => of(peer) / of(own)
const loginUs = (contender: string, outcome: string) => figure(LOGIN, { contender, outcome }, 'µs')
const restartMs = (contender: string, ...columns: string[]) =>
  columns.reduce((ms, column) => ms + figure(RESTART, { contender, keys: '1,000,000' }, column), 0)
const [bucketCpuMs, slidingCpuMs] = ['token bucket', 'sliding window'].map((contender) =>
  restartMs(contender, 'CPU of dump', 'CPU of restore'),
) as [number, number]
const minutes = (server: string) => figure(DURATION, { server }, 'all gone after s') / 60

const CLAIMS = [
  `headgate's middleware takes ${two(1 / live('headgate, legacy', `${THEIRS}, legacy`))} of express-rate-limit's time with the legacy headers and ${two(1 / live('headgate, both', `${THEIRS}, both`))} with both`,
  `It takes ${one(live('a Map by hand, legacy', 'headgate, legacy'))} times as long as a \`Map\` by hand`,
  `Three limiters take ${one(figure(THREE, { contender: 'headgate, legacy' }, 'µs a request') / sampledUs('headgate, legacy'))} times as long as one.`,
  `and Redis ${one(figure('Live on Redis', { contender: 'express-rate-limit, legacy' }, 'Redis CPU µs') / figure('Live on Redis', { contender: 'headgate, legacy' }, 'Redis CPU µs'))} times less`,
  `a decision at 100,000 keys was to be four times as fast as the faster peer's, and is ${one(Math.min(memory(bucket, '100,000', `${FREE} /`), memory(bucket, '100,000', `${THEIRS} /`)))} times as fast.`,
  `At 1,000 keys, headgate takes ${span(
    [bucket, window].map((contender) => 1 / memory(contender, '1,000', `${THEIRS} /`)),
    two,
  )} times as long as express-rate-limit.`,
  `While the memory store grew to ten million keys, the longest call took ${one(figure('The longest single call while the store grows', { [bucket]: 'growing' }, 'median'))} ms in the median of five runs.`,
  `From a thousand to ten million keys, a decision gets ${one(figure(SCALE, { contender: bucket }, 'last / first, at most 3x'))} times slower.`,
  `a normal client's median request takes ${one(figure(FLOOD, { '': 'during the flood' }, 'median'))} µs instead of ${one(figure(FLOOD, { '': 'before' }, 'median'))}.`,
  `a single caller waits ${span(
    [bucket, window].flatMap((own) => ['rate-limit-redis', FREE].map((peer) => waits('Redis', own, peer))),
    one,
  )} times as long as with the peers' stores.`,
  `Through a limiter, it waits ${one(waits('Redis', LIMITER, 'rate-limit-redis'))} times as long as with rate-limit-redis (${one(waits('Redis', ON_NODE_REDIS, 'rate-limit-redis'))} with node-redis).`,
  `a single caller waits ${span(
    [bucket, window, sliding].map((own) => waits('PostgreSQL', own, FREE)),
    one,
  )} times as long as with rate-limiter-flexible, and ${one(waits('PostgreSQL', LIMITER, FREE))} times through a limiter.`,
  `make a hot key ${Math.round(figure(HOT, { contender: 'headgate, leased token bucket' }, 'rate-limit-redis /'))} times as fast as the better peer in one process, but ${one(figure(SHARED, { contender: 'headgate, leased token bucket' }, 'decisions/s') / figure(SHARED, { contender: 'rate-limit-redis' }, 'decisions/s'))} times in four.`,
  `costs ${Math.round(loginUs('headgate', 'failure'))} to ${Math.round(loginUs('headgate, device cookie', 'success'))} µs in memory, and two bare counters ${span(
    ['success', 'failure'].map((outcome) => loginUs(COUNTERS, outcome)),
    (us) => us.toFixed(0),
  )}.`,
  `takes ${figure('Bytes per key at 1,000,000 keys', { contender: sliding }, 'heap')} bytes per key, and express-rate-limit's counter ${figure('Bytes per key at 1,000,000 keys', { contender: THEIRS }, 'heap')}.`,
  `would take ${span(['MariaDB', 'PostgreSQL'].map(minutes), (value) => value.toFixed(0))} minutes.`,
  `their p99 was at most ${two(Math.max(...['MariaDB', 'PostgreSQL'].map((server) => figure(PURGE, { server, phase: 'purging' }, 'times before'))))} times that before.`,
  `the two processes together need ${bucketCpuMs} ms of CPU time with a token bucket, and ${slidingCpuMs} ms with a sliding window.`,
  `Dump and restore took ${restartMs('token bucket', 'both')} ms and ${restartMs('sliding window', 'both').toLocaleString('en')} ms.`,
  `With Express loaded, \`require\` takes ${Math.round(figure(REQUIRED, { entry: 'headgate' }, 'CPU ms'))} ms of CPU time for headgate, and ${Math.round(figure(REQUIRED, { entry: THEIRS }, 'CPU ms'))} for express-rate-limit.`,
  `In an empty process, \`import\` takes ${Math.round(figure(IMPORTED, { entry: 'headgate' }, 'CPU ms'))} and ${Math.round(figure(IMPORTED, { entry: THEIRS }, 'CPU ms'))}.`,
  `headgate is ${one(installed('headgate', 'KiB') / installed(THEIRS, 'KiB'))} times as large as express-rate-limit with its dependencies: ${one((installed('headgate', 'KiB') * 1024) / 1e6)} MB in ${installed('headgate', 'files')} files.`,
  `\`rateLimit\` adds ${bundled('headgate, rateLimit')} bytes, and that of express-rate-limit ${bundled(THEIRS)}.`,
]

test.each(CLAIMS)('a sentence has the figures of the printed run: %s', (sentence) => {
  expect(prose).toContain(sentence)
})

test('what needs more CPU time than with rate-limiter-flexible is listed', () => {
  expect(prose).toContain(
    '**In a live server**, on Redis and with three limiters in memory, headgate needs more CPU time than rate-limiter-flexible.',
  )
  for (const [caption, column] of [
    [THREE, 'µs a request'],
    ['Live on Redis', 'above nothing'],
  ] as const) {
    const [own, peer] = ['headgate', FREE].map((name) =>
      figure(caption, { contender: `${name}, legacy` }, column),
    )
    expect(own).toBeGreaterThan(peer as number)
  }
})

/** The tables that begin so in which the first contender's interval is below the second's, by their captions. */
function cheaper(start: string, contenders: readonly [RegExp, RegExp]): string[] {
  const intervalOf = (rows: (typeof tables)[number]['rows'], name: RegExp) => {
    const row = rows.find((each) => name.test(each.contender ?? each.limiter ?? ''))
    return row?.['95 %']?.split(' to ').map(Number) as [number, number] | undefined
  }
  return tables
    .filter(({ caption }) => caption.startsWith(start) && caption.includes('user CPU of a request'))
    .filter(({ rows }) => {
      const [own, peer] = contenders.map((name) => intervalOf(rows, name))
      if (own === undefined || peer === undefined) throw new Error(`no interval in ${start}`)
      return own[1] < peer[0]
    })
    .map(({ caption }) => caption.replace(/:.*/, ''))
}

test('in live servers, the intervals show the differences that the page names, and no others', () => {
  const [legacy, theirs] = [/^headgate, legacy$/, /^express-rate-limit, legacy$/]
  expect(cheaper('Live, ', [legacy, theirs])).toEqual([
    'Live, allowed, 1 client',
    'Live, denied, 10,000 clients',
  ])
  expect(cheaper('Live, ', [theirs, legacy])).toEqual([])
  const frameworks = ['Fastify', 'Nest on Express', 'Nest on Fastify', 'Hono', 'Koa'].map(
    (each) => `${each}, `,
  )
  const [own, other] = [/^headgate$/, /^(?!headgate|nothing)/]
  expect(frameworks.flatMap((each) => cheaper(each, [own, other]))).toEqual([
    'Fastify, denied',
    'Nest on Express, allowed',
    'Nest on Express, denied',
    'Nest on Fastify, allowed',
  ])
  expect(frameworks.flatMap((each) => cheaper(each, [other, own]))).toEqual([])
})

describe('the summary', () => {
  const summary = new Map(
    [...page.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)].map(([, what = '', theirs, free]) => [
      what.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1'),
      `${theirs} | ${free}`,
    ]),
  )
  const row = (theirs: number | string | undefined, free: number | string | undefined) =>
    [theirs, free].map((each) => (typeof each === 'number' ? times(each) : (each ?? '–'))).join(' | ')
  const [leased, attacked] = ['headgate, leased token bucket', 'headgate before Express']
  const bytes = (peer: string) =>
    figure('Bytes per key at 1,000,000 keys', { contender: bucket }, `${peer} /`)
  const denied = (server: string, peer: string) => figure(DENIED, { 'Express server': server }, `${peer} /`)
  const attack = (contender: string) => figure(ATTACK, { contender }, '/ headgate')

  test.each([
    [
      'a decision in memory, 100,000 keys',
      row(memory(bucket, '100,000', `${THEIRS} /`), memory(bucket, '100,000', `${FREE} /`)),
    ],
    [
      'the same, 5,000,000 keys',
      row(memory(bucket, '5,000,000', `${THEIRS} /`), memory(bucket, '5,000,000', `${FREE} /`)),
    ],
    ['bytes per key, 1,000,000 keys', row(bytes(THEIRS), bytes(FREE))],
    [
      'an allowed request in a live server, legacy headers',
      row(live('headgate, legacy', `${THEIRS}, legacy`), live('headgate, legacy', `${FREE}, legacy`)),
    ],
    ['the same, both headers', row(live('headgate, both', `${THEIRS}, both`), undefined)],
    [
      'the same, bytes allocated, legacy headers',
      row(
        live('headgate, legacy', `${THEIRS}, legacy`, sampledBytes),
        live('headgate, legacy', `${FREE}, legacy`, sampledBytes),
      ),
    ],
    ['a denied request over a socket', row(denied('headgate', THEIRS), denied('headgate', FREE))],
    ['the same, with headgate mounted before Express', row(denied(attacked, THEIRS), denied(attacked, FREE))],
    [
      'Redis, decisions a second, 10,000 keys',
      row(busy('Redis', bucket, 'rate-limit-redis'), busy('Redis', bucket, FREE)),
    ],
    [
      'Redis under attack, denials a second',
      row(
        attack('rate-limit-redis'),
        `${times(attack('rate-limiter-flexible, inMemoryBlock'))} to ${times(attack(FREE))}`,
      ),
    ],
    [
      'one hot key on Redis, leased',
      row(
        figure(HOT, { contender: leased }, 'rate-limit-redis /'),
        figure(HOT, { contender: leased }, `${FREE} /`),
      ),
    ],
    [
      'memcached, decisions a second, 10,000 keys',
      row(busy('memcached', bucket, 'rate-limit-memcached'), busy('memcached', bucket, FREE)),
    ],
    ['MariaDB, decisions a second, 10,000 keys', row(undefined, busy('MariaDB', bucket, FREE))],
    ['PostgreSQL, decisions a second, 10,000 keys', row(undefined, busy('PostgreSQL', bucket, FREE))],
    [
      'through a limiter on Redis, decisions a second, 10,000 keys',
      row(busy('Redis', LIMITER, 'rate-limit-redis'), busy('Redis', LIMITER, FREE)),
    ],
    [
      'the same on memcached, fixed window',
      row(busy('memcached', LIMITER, 'rate-limit-memcached'), busy('memcached', LIMITER, FREE)),
    ],
    ['the same on MariaDB', row(undefined, busy('MariaDB', LIMITER, FREE))],
    ['the same on PostgreSQL', row(undefined, busy('PostgreSQL', LIMITER, FREE))],
    [
      'a guarded login, failed attempts',
      row(undefined, figure(LOGIN, { contender: 'headgate', outcome: 'failure' }, 'headgate is')),
    ],
  ])('has the ratios of %s', (what, cells) => {
    expect(summary.get(what)).toBe(cells)
  })
})

describe('a plot has the figures of the printed run:', () => {
  const drawn = (name: string) => {
    const svg = readFileSync(join(ROOT, `docs/plots/${name}.svg`), 'utf8')
    return /<desc[^>]*>[^<]*?: ([^<]*)/.exec(svg)?.[1]?.split('; ') ?? []
  }
  /** A figure as plots show it: whole from 100 up, else of three digits. */
  const shown = (value: number) =>
    value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))

  test.each([
    ['memory', MEMORY, 'ns/decision', 12],
    ['redis-decisions', 'Redis, 200 callers in one process: 50,000 decisions a round, 15', 'decisions/s', 8],
  ])('%s', (name, caption, column, least) => {
    const bars = drawn(name)
    expect(bars.length).toBeGreaterThanOrEqual(least)
    for (const bar of bars) {
      const [, keys = '', contender = '', value] = /^(one|[\d,]+) keys?, (.+) ([\d,.]+)$/.exec(bar) ?? []
      const printed = figure(caption, { contender, keys: keys === 'one' ? '1' : keys }, column)
      expect(`${bar}: ${value}`).toBe(`${bar}: ${shown(printed)}`)
    }
  })

  test.each(['light', 'dark'])('live-profile, %s', (look) => {
    const bars = drawn(`live-profile-${look}`)
    expect(bars).toHaveLength(10)
    for (const bar of bars) {
      const [, group, contender = '', value] = /^(one limiter|three limiters), (.+) ([\d.]+)$/.exec(bar) ?? []
      const caption = group === 'one limiter' ? SAMPLED : THREE
      const printed = figure(caption, { contender: `${contender}, legacy` }, 'µs a request')
      expect(`${bar}: ${Number(value)}`).toBe(`${bar}: ${printed}`)
    }
  })

  test('attack', () => {
    const bars = drawn('attack')
    expect(bars).toHaveLength(5)
    for (const bar of bars) {
      const [, contender = '', value] = /^(.+) ([\d,.]+)$/.exec(bar) ?? []
      const sum = ['client µs', 'Redis µs'].reduce(
        (us, column) => us + figure(ATTACK, { contender }, column),
        0,
      )
      expect(Math.abs(Number(value) - sum)).toBeLessThan(0.06) // both columns are rounded
    }
  })

  test('scale', () => {
    const lines = drawn('scale')
    expect(lines).toHaveLength(4)
    for (const line of lines) {
      const points = [...line.matchAll(/([\d,.]+) at (\d[\d,]*\d)/g)]
      const contender = line.slice(0, points[0]?.index).trim()
      expect(points).toHaveLength(5)
      for (const [, y, x = ''] of points) expect([x, y]).toEqual([x, shown(figure(SCALE, { contender }, x))])
    }
  })
})
