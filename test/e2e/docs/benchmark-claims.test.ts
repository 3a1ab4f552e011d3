import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { figureIn, printedRun, printedTables } from './printed-tables.js'

const ROOT = resolve(__dirname, '../../..')
const RESULTS = 'test/bench/results'
const page = readFileSync(join(ROOT, 'docs/benchmarks.md'), 'utf8')
const runs = readdirSync(join(ROOT, RESULTS)).filter((file) => file.endsWith('.txt'))
const tables = runs.flatMap((file) => printedTables(printedRun(`${RESULTS}/${file}`)))
const prose = page.replace(/\s+/g, ' ')

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
const HOT = 'One hot key on Redis, 200 callers in one process'
const SHARED = '50,000 a second over 4 processes'
const ATTACK = 'Redis under attack'
const CALLERS = ', 200 callers in one process: '
const ONE = ', one caller: '

/** A ratio of a table of callers: rounds tell the tables of a store from those through a limiter. */
const busy = (server: string, rounds: string, contender: string, peer: string, nth = 0, keys = '10,000') =>
  figure(`${server}${CALLERS}${rounds}`, { contender, keys }, `${peer} /`, nth)
const redis = (contender: string, peer: string, nth = 0) =>
  busy('Redis', '50,000 decisions a round, 15', contender, peer, nth)
const memcached = (contender: string, peer: string, keys = '10,000') =>
  busy('memcached', '50,000 decisions a round, 15', contender, peer, 0, keys)
const sql = (server: string, contender: string) =>
  busy(server, '10,000 decisions a round, 9', contender, FREE)
const limited = {
  redis: (contender: string, peer: string) => busy('Redis', '50,000 decisions a round, 5', contender, peer),
  memcached: (peer: string) => busy('memcached', '50,000 decisions a round, 5', 'headgate, limiter', peer),
  sql: (server: string) => busy(server, '10,000 decisions a round, 3', 'headgate, limiter', FREE),
}
const waits = (server: string, rounds: string, contender: string, peer: string) =>
  1 / figure(`${server}${ONE}${rounds}`, { contender }, `${peer} /`)
const installed = (name: string, column: string) =>
  figure('What is installed, with dependencies', { package: name }, column)
const bundled = (name: string) =>
  figure('In a bundle of esbuild', { import: name }, 'bytes').toLocaleString('en')
const span = (values: number[], format: (value: number) => string) =>
  [format(Math.min(...values)), format(Math.max(...values))].join(' to ')
const all = ['token bucket', 'fixed window', 'sliding window'].map((policy) => `headgate, ${policy}`)
const firstTwo = all.slice(0, 2)
const peers = (theirs: string) => [theirs, FREE]
const pairs = (contenders: readonly string[], names: readonly string[]) =>
  contenders.flatMap((contender) => names.map((peer) => [contender, peer] as const))

describe('a sentence has the figures of the table:', () => {
  const [bucket, window] = all as [string, string]
  const live = (own: string, peer: string, of = sampledUs) => of(peer) / of(own)

  test.each([
    `headgate's middleware takes ${two(1 / live('headgate, legacy', `${THEIRS}, legacy`))} of express-rate-limit's time with the legacy headers and ${two(1 / live('headgate, both', `${THEIRS}, both`))} with both, and ${two(1 / live('headgate, legacy', `${THEIRS}, legacy`, sampledBytes))} of its bytes with the legacy headers.`,
    `It takes ${one(live('a Map by hand, legacy', 'headgate, legacy'))} times as long as a \`Map\` by hand`,
    `Three limiters take ${one(figure(THREE, { contender: 'headgate, legacy' }, 'µs a request') / sampledUs('headgate, legacy'))} times as long as one.`,
    `Sampled in a live server it costs ${one(live('a Map by hand, legacy', 'headgate, legacy'))} times as much`,
    `costs as much as a bare response around rate-limiter-flexible (${times(figure(DENIED, { 'Express server': 'headgate' }, `${FREE} /`))})`,
    `It is ${one(memory(bucket, '100,000', `${FREE} /`))} times as fast in this run`,
    `headgate is ${one(memory(bucket, '100,000', `${FREE} /`))} times as fast as the faster peer at 100,000 keys, and ${one(memory(bucket, '5,000,000', `${FREE} /`))} times at 5,000,000.`,
    `headgate costs as much as express-rate-limit (${two(1 / memory(bucket, '1,000', `${THEIRS} /`))} to ${two(1 / memory(window, '1,000', `${THEIRS} /`))} times as much)`,
    `headgate's cost grows ${one(figure(SCALE, { contender: bucket }, 'last / first, at most 3x'))} times, express-rate-limit's ${one(figure(SCALE, { contender: THEIRS }, 'last / first, at most 3x'))} times and rate-limiter-flexible's ${one(figure(SCALE, { contender: FREE }, 'last / first, at most 3x'))} times.`,
    `the median request takes ${one(figure(FLOOD, { '': 'during the flood' }, 'median'))} µs instead of ${one(figure(FLOOD, { '': 'before' }, 'median'))}, and one in a hundred ${one(figure(FLOOD, { '': 'during the flood' }, 'p99'))} instead of ${one(figure(FLOOD, { '': 'before' }, 'p99'))}.`,
    `It takes ${one(redis(bucket, 'rate-limit-redis', 2))} times less in this run.`,
    `is ${one(redis(window, 'rate-limit-redis', 1))} times less in this run`,
    `headgate decides ${span(
      pairs(firstTwo, peers('rate-limit-redis')).map(([c, p]) => redis(c, p)),
      one,
    )} times as fast as the peers. The client's CPU for a decision is ${span(
      pairs(firstTwo, peers('rate-limit-redis')).map(([c, p]) => redis(c, p, 1)),
      one,
    )} times less, and Redis' ${span(
      pairs(firstTwo, peers('rate-limit-redis')).map(([c, p]) => redis(c, p, 2)),
      one,
    )} times.`,
    `A single caller, which has nothing to batch, waits ${span(
      pairs(firstTwo, peers('rate-limit-redis')).map(([c, p]) =>
        waits('Redis', '1,000 decisions a round over 10,000 keys, 50', c, p),
      ),
      one,
    )} times as long.`,
    `In one process, leases are ${Math.round(figure(HOT, { contender: 'headgate, leased token bucket' }, 'rate-limit-redis /'))} times as fast as the better peer. In four processes they are only ${one(figure(SHARED, { contender: 'headgate, leased token bucket' }, 'decisions/s') / figure(SHARED, { contender: 'rate-limit-redis' }, 'decisions/s'))} times as fast`,
    `leases make headgate ${Math.round(figure(HOT, { contender: 'headgate, leased token bucket' }, 'rate-limit-redis /'))} times as fast as the better peer in one process, and ${one(figure(SHARED, { contender: 'headgate, leased token bucket' }, 'decisions/s') / figure(SHARED, { contender: 'rate-limit-redis' }, 'decisions/s'))} times as fast in four.`,
    `That is ${two(figure(ATTACK, { contender: 'rate-limiter-flexible, inMemoryBlock' }, '/ headgate'))} times as many as rate-limiter-flexible with \`inMemoryBlockOnConsumed\``,
    `headgate denies ${(Math.round(figure(ATTACK, { contender: 'headgate' }, 'denials/s') / 10_000) * 10_000).toLocaleString('en')} requests a second`,
    `They are ${one(limited.sql('MariaDB'))} and ${one(limited.sql('PostgreSQL'))} times as many. On Redis 2.5 times were the goal: it is ${two(limited.redis('headgate, limiter', 'rate-limit-redis'))} in this run, and 2.71 and 2.40 in others; with node-redis ${two(limited.redis('headgate, limiter on redis 6', 'rate-limit-redis'))}.`,
    `A single caller waits ${one(waits('Redis', '1,000 decisions a round over 10,000 keys, 20', 'headgate, limiter', 'rate-limit-redis'))} times as long on Redis (${one(waits('Redis', '1,000 decisions a round over 10,000 keys, 20', 'headgate, limiter on redis 6', 'rate-limit-redis'))} with node-redis), and ${one(waits('PostgreSQL', '500 decisions a round', 'headgate, limiter', FREE))} times on PostgreSQL.`,
    `headgate decides ${span(
      pairs(all, peers('rate-limit-memcached')).map(([c, p]) => memcached(c, p)),
      one,
    )} times as fast as the peers on 10,000 keys and ${span(
      pairs(all, peers('rate-limit-memcached')).map(([c, p]) => memcached(c, p, '1')),
      one,
    )} times on one, and a single caller's wait is ${span(
      pairs(all, peers('rate-limit-memcached')).map(
        ([c, p]) => 1 / waits('memcached', '1,000 decisions a round over 10,000 keys, 50', c, p),
      ),
      one,
    )} times shorter.`,
    `headgate decides ${span(
      all.map((c) => sql('MariaDB', c)),
      one,
    )} times as fast as rate-limiter-flexible on MariaDB and ${span(
      all.map((c) => sql('PostgreSQL', c)),
      one,
    )} times on PostgreSQL.`,
    `A single caller's wait is ${span(
      all.map((c) => 1 / waits('MariaDB', '500 decisions a round over 10,000 keys, 20', c, FREE)),
      one,
    )} times shorter on MariaDB`,
    `Requests with headers as long as Node.js accepts cost at most ${two(figure('Hostile headers', { request: 'login denied, 15 KB of forged device cookies' }, '/ normal'))} times as much CPU as normal ones`,
    `\`loginGuard\` costs ${Math.round(figure(LOGIN, { contender: 'headgate', outcome: 'failure' }, 'µs') / figure(LOGIN, { contender: 'rate-limiter-flexible, two counters', outcome: 'failure' }, 'µs'))} to ${Math.round(figure(LOGIN, { contender: 'headgate, device cookie', outcome: 'success' }, 'µs') / figure(LOGIN, { contender: 'rate-limiter-flexible, two counters', outcome: 'success' }, 'µs'))} times as much as two bare counters in this run.`,
    `A guarded login** costs ${Math.round(figure(LOGIN, { contender: 'headgate', outcome: 'failure' }, 'µs'))} to ${Math.round(figure(LOGIN, { contender: 'headgate, device cookie', outcome: 'success' }, 'µs'))} µs in memory`,
    `at most ${figure('8 processes on one token bucket', { storm: 'one caller each' }, 'share').toFixed(3)} % of the charges ran out of attempts`,
    `(${two(figure('50 callers, 500 charges', { server: 'MariaDB', phase: 'purging' }, 'times before'))} times on MariaDB, ${two(figure('50 callers, 500 charges', { server: 'PostgreSQL', phase: 'purging' }, 'times before'))} times on PostgreSQL)`,
    `takes ${Math.round(figure('Loading by require(), after Express', { entry: 'headgate' }, 'CPU ms'))} ms of CPU, express-rate-limit ${Math.round(figure('Loading by require(), after Express', { entry: THEIRS }, 'CPU ms'))}.`,
    `In an empty process they are level (${Math.round(figure('Loading by require(), in an empty', { entry: 'headgate' }, 'CPU ms'))} and ${Math.round(figure('Loading by require(), in an empty', { entry: THEIRS }, 'CPU ms'))}), and as an ES module headgate takes ${Math.round(figure('Loading by import(), in an empty', { entry: 'headgate' }, 'CPU ms'))} ms instead of ${Math.round(figure('Loading by import(), in an empty', { entry: THEIRS }, 'CPU ms'))}.`,
    `headgate is ${one(installed('headgate', 'KiB') / installed(THEIRS, 'KiB'))} times as large as express-rate-limit with its dependencies: ${one((installed('headgate', 'KiB') * 1024) / 1e6)} MB in ${installed('headgate', 'files')} files.`,
    `\`rateLimit\` adds ${bundled('headgate, rateLimit')} bytes, and that of express-rate-limit ${bundled(THEIRS)}.`,
    `waits ${span(
      all.map((c) => waits('PostgreSQL', '500 decisions a round over 10,000 keys, 20', c, FREE)),
      one,
    )} times as long as with rate-limiter-flexible`,
  ])('%s', (sentence) => {
    expect(prose).toContain(sentence)
  })

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
      'an allowed request in a live server, sampled, legacy headers',
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
    ['Redis, decisions a second, 10,000 keys', row(redis(bucket, 'rate-limit-redis'), redis(bucket, FREE))],
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
      row(memcached(bucket, 'rate-limit-memcached'), memcached(bucket, FREE)),
    ],
    ['MariaDB, decisions a second, 10,000 keys', row(undefined, sql('MariaDB', bucket))],
    ['PostgreSQL, decisions a second, 10,000 keys', row(undefined, sql('PostgreSQL', bucket))],
    [
      'through a limiter on Redis, decisions a second, 10,000 keys',
      row(limited.redis('headgate, limiter', 'rate-limit-redis'), limited.redis('headgate, limiter', FREE)),
    ],
    [
      'the same on memcached, fixed window',
      row(limited.memcached('rate-limit-memcached'), limited.memcached(FREE)),
    ],
    ['the same on MariaDB', row(undefined, limited.sql('MariaDB'))],
    ['the same on PostgreSQL', row(undefined, limited.sql('PostgreSQL'))],
    [
      'a guarded login, failed attempts',
      row(undefined, figure(LOGIN, { contender: 'headgate', outcome: 'failure' }, 'headgate is')),
    ],
  ])('the row of the summary about %s', (what, cells) => {
    expect(summary.get(what)).toBe(cells)
  })

  test('the summary has no other rows', () => {
    const [, section = ''] = page.split('\n## Summary\n')
    const rows = section.split('\n## ')[0]?.match(/^\| .*x.* \|$/gm) ?? []
    expect(rows.filter((line) => !line.startsWith('| what'))).toHaveLength(19)
  })
})
