import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { byIp, byUser, fixedWindow, type KeyFunction, memoryStore, rateLimit, slidingWindow } from 'headgate'
import { parseReplayArguments } from '../../src/cli/replay/arguments.js'
import { Decisions } from '../../src/cli/replay/decisions.js'
import { Replay } from '../../src/cli/replay/replay.js'
import type { Report } from '../../src/cli/replay/report.js'
import { closeServers, send, serve } from '../support/http.js'
import { runHere } from '../support/run-command.js'
import { type Bundle, bundle } from '../support/servers/bundle.js'

let program: Bundle
let folder: string

beforeAll(async () => {
  program = await bundle(join(__dirname, '../../src/cli.ts'))
  folder = mkdtempSync(join(tmpdir(), 'headgate-replay-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await program.remove()
})
afterEach(closeServers)

/** Runs `headgate` with arguments in the folder of the logs. */
const run = (args: readonly string[], input: string | Buffer = '') => runHere(args, { folder, input })

async function replay(args: readonly string[], input?: string | Buffer): Promise<Report> {
  const { code, stdout, stderr } = await run(['replay', ...args, '--json'], input)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

function write(name: string, contents: string | Buffer): string {
  writeFileSync(join(folder, name), contents)
  return name
}

const START_MS = Date.UTC(2026, 10, 24, 3, 0, 0)

/** Returns a line of the combined format, `seconds` after 3 o'clock. */
function combined(seconds: number, address = '192.0.2.1', user = '-', request = 'GET / HTTP/1.1') {
  const time = new Date(START_MS + 1000 * seconds).toISOString().slice(11, 19)
  return `${address} - ${user} [24/Nov/2026:${time} +0000] "${request}" 200 2 "-" "curl/8"\n`
}

describe('decisions equal those of rateLimit in Express', () => {
  const limit = 3
  const window = 10_000
  const policies: [string, object][] = [
    ['token-bucket', { limit, window }],
    ['sliding-window', { policy: slidingWindow({ limit, window }) }],
    ['fixed-window', { policy: fixedWindow({ limit, window }) }],
    ['first-request', { policy: fixedWindow({ limit, window, startsAt: 'first-request' }) }],
  ]
  const keys: [string, KeyFunction<never>][] = [
    ['ip', byIp()],
    ['user', byUser((req: express.Request) => req.get('x-user'))],
  ]
  /** Three clients by address: one in two spellings, one in two addresses of its network. */
  const ADDRESSES = ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1', '2001:db8:0:1::2', '192.0.2.9']

  const cases = policies.flatMap(([name, options]) =>
    keys.map(([key, byKey]) => ({ name, options, key, byKey })),
  )

  test.each(cases)('$name by $key, of the combined format and of JSON lines', async (each) => {
    let nowMs = START_MS
    const lines: { combined: string; json: string; status: number }[] = []
    const app = express().set('trust proxy', 1)
    app.use((req, res, next) => {
      const user = req.get('x-user')
      res.on('finish', () =>
        lines.push({
          combined: combined((nowMs - START_MS) / 1000, req.ip, user),
          json: `${JSON.stringify({ time: nowMs, ip: req.ip, user, method: 'GET', url: req.url })}\n`,
          status: res.statusCode,
        }),
      )
      next()
    })
    app.use(rateLimit({ ...each.options, key: each.byKey, store: memoryStore({ clock: () => nowMs }) }))
    app.get('/', (_req, res) => void res.send('ok'))
    const served = await serve(app)

    let seed = 7
    const draw = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let i = 0; i < 150; i++) {
      nowMs += [0, 0, 1000, 3000][draw(4)] as number
      const user = ['ada', 'bob', undefined][draw(3)]
      const headers = { 'x-forwarded-for': ADDRESSES[draw(5)], ...(user && { 'x-user': user }) }
      await send(served, { headers })
    }

    const isDenied = lines.map(({ status }) => status === 429)
    expect(isDenied).toEqual(expect.arrayContaining([true, false]))
    const args = ['--limit', `${limit}`, '--window', '10s', '--policy', each.name, '--key', each.key]
    for (const format of ['combined', 'json'] as const) {
      const log = lines.map((line) => line[format])
      const whole = await replay(['-', ...args], log.join(''))
      expect(whole).toMatchObject({ requests: 150, unreadable: { lines: 0 } })
      expect(whole.limits[0]?.denied.requests).toBe(isDenied.filter(Boolean).length)
      expect(await deniedOneByOne(log, each.name, each.key)).toEqual(isDenied)
    }
  })

  /** Replays a log in this process. Returns whether each request is denied. */
  async function deniedOneByOne(log: readonly string[], policy: string, key: string): Promise<boolean[]> {
    const file = join(folder, write('log', log.join('')))
    const args = [file, '--limit', '3', '--window', '10s', '--policy', policy, '--key', key]
    const decide = jest.spyOn(Decisions.prototype, 'decide')
    await new Replay(parseReplayArguments(args)).readAll([file], () => undefined)
    const denied = decide.mock.results.map(({ value }) => value === false)
    decide.mockRestore()
    return denied
  }
})

describe('the report', () => {
  const LIMIT = ['--limit', '2', '--window', '1m', '--policy', 'fixed-window']

  test('counts lines, clients and denials', async () => {
    const log = [
      ...[0, 1, 2, 3].map((s) => combined(s)),
      'garbage\n',
      combined(4, '192.0.2.2'),
      combined(5, '192.0.2.3', '-', '-'),
      '\n',
      combined(61),
    ]
    expect(await replay([write('access.log', log.join('')), ...LIMIT])).toEqual({
      lines: 9,
      unreadable: { lines: 1, first: { file: 'access.log', line: 5 }, reasons: { unknownFormat: 1 } },
      skipped: 2,
      skippedReasons: { blank: 1, noRequest: 1 },
      firstRequest: expect.objectContaining({ file: 'access.log', line: 1 }),
      outOfOrder: { lines: 0, mostMs: 0, late: 0 },
      repeatedHours: [],
      timeZone: null,
      requests: 6,
      unknownAddresses: 0,
      privateAddresses: 0,
      forwarded: { requests: 0, ignored: 0 },
      clients: 2,
      key: 'ip',
      from: '2026-11-24T03:00:00.000Z',
      to: '2026-11-24T03:01:01.000Z',
      limits: [
        {
          policy: 'fixed-window',
          limit: 2,
          windowMs: 60_000,
          denied: {
            requests: 2,
            requestShare: 2 / 6,
            clients: 1,
            clientShare: 1 / 2,
            firstAt: '2026-11-24T03:00:02.000Z',
            lastAt: '2026-11-24T03:00:03.000Z',
          },
          mostDenied: [{ client: '192.0.2.1', requests: 5, denied: 2 }],
        },
      ],
      histogram: { widthMs: 5000, bars: expect.any(Array) },
    })
  })

  test('is text without --json, with nothing in it that could steer a terminal', async () => {
    const log = [0, 1, 2].map((s) => combined(s, '192.0.2.1', 'x\\x1b[2J\u202e'))
    const file = write('hostile.log', log.join(''))
    const { code, stdout } = await run(['replay', file, ...LIMIT, '--key', 'user'])
    expect(code).toBe(0)
    expect(stdout).toContain('denied        1 of 3 requests (33.33%)\n              1 of 1 clients (100.00%)')
    expect(stdout).toContain('user:x\\u001b[2J\\u202e  1 of 3')
    expect(stdout).not.toMatch(/[^\n -~]/)
    const { stdout: json } = await run(['replay', file, ...LIMIT, '--key', 'user', '--json'])
    expect(json).not.toMatch(/[^\n -~]/)
    expect(JSON.parse(json).limits[0].mostDenied[0].client).toBe('user:x\u001b[2J\u202e')
  })

  test('joins the keys of --key, and limits only the routes of --only', async () => {
    const log = [
      combined(0, '192.0.2.1', '-', 'POST /login?a HTTP/1.1'),
      combined(0, '192.0.2.1', '-', 'POST /login HTTP/1.1'),
      combined(0, '192.0.2.1', '-', 'POST /other HTTP/1.1'),
      combined(0, '192.0.2.1', '-', 'GET /login HTTP/1.1'),
    ]
    const file = write('routes.log', log.join(''))
    const args = [file, '--limit', '1', '--window', '1m', '--key', 'ip,path']
    const { limits, clients } = await replay([...args, '--only', 'POST /login', '--only', '/o*'])
    expect(clients).toBe(2)
    expect(limits[0]?.mostDenied).toEqual([{ client: '192.0.2.1 /login', requests: 2, denied: 1 }])
  })

  test('--key field:NAME reads JSON lines; requests without the field share one limit per address', async () => {
    const line = (fields: object) => `${JSON.stringify({ time: START_MS, ip: '192.0.2.1', ...fields })}\n`
    const log = [
      ...[{ tenant: { id: 7 } }, { tenant: { id: 7 } }, { tenant: { id: '8' } }].map(line),
      ...[{}, { tenant: { id: null } }, { ip: '192.0.2.2' }].map(line),
    ]
    const args = ['--limit', '1', '--window', '1m', '--key', 'field:tenant.id']
    const { clients, limits } = await replay(['-', ...args], log.join(''))
    expect(clients).toBe(4)
    expect(limits[0]?.mostDenied).toEqual([
      { client: '7', requests: 2, denied: 1 },
      { client: 'malformed:192.0.2.1', requests: 2, denied: 1 },
    ])
  })

  test('a request that was logged late is sorted', async () => {
    const log = [0, 59, 60, 58, 57].map((s) => combined(s))
    const { limits, outOfOrder } = await replay(['-', ...LIMIT], log.join(''))
    expect(outOfOrder).toEqual({ lines: 2, mostMs: 3000, late: 0 })
    expect(limits[0]?.denied).toMatchObject({ requests: 2, firstAt: '2026-11-24T03:00:58.000Z' })
  })

  test('reads files in order, compressed or not, with CRLF, a byte order mark and no final newline', async () => {
    const crlf = `\ufeff${combined(0)}${combined(1)}`.replaceAll('\n', '\r\n').trimEnd()
    const first = write('old.log.gz', Buffer.concat([gzipSync(combined(0)), gzipSync(combined(0))]))
    const second = write('new.log', crlf)
    const { lines, limits } = await replay([first, second, '-', ...LIMIT], gzipSync(combined(2)))
    expect(lines).toBe(5)
    expect(limits[0]?.denied.requests).toBe(3)
  })

  test('--suggest shows the smallest limits, with and without --limit', async () => {
    const log = [...[0, 0, 0, 61].map((s) => combined(s)), combined(62, '192.0.2.2')]
    const file = write('suggest.log', log.join(''))
    const args = [file, '--window', '1m', '--suggest', '--policy', 'fixed-window']
    const smallest = [0, 0.001, 0.01].map((share) => ({ share, limit: 3, denied: 0 }))
    const suggestions = { policy: 'fixed-window', windowMs: 60_000, requests: smallest, clients: smallest }
    expect(await replay(args)).toMatchObject({ limits: [], suggestions })
    expect(await replay([...args, '--limit', '1'])).toMatchObject({ limits: [{ limit: 1 }], suggestions })
    const { stdout } = await run(['replay', ...args])
    expect(stdout).toMatch(
      /smallest limits in 1m \(fixed-window\)\n.*\n {2}0% +3 \(denies 0\) +3 \(denies 0\)\n/,
    )
  })

  test('decides several limits independently in one pass, and compares them', async () => {
    const log = [...[0, 1, 2, 3, 61].map((s) => combined(s)), combined(62, '192.0.2.2')]
    const args = [write('several.log', log.join('')), '--window', '1m', '--policy', 'fixed-window']
    const several = ['--limit', '3', '--limit', '1', '--limit', '9']
    const { limits, histogram } = await replay([...args, ...several])
    const alone = await Promise.all(['3', '1', '9'].map((limit) => replay([...args, '--limit', limit])))
    expect(limits).toEqual(alone.flatMap((report) => report.limits))
    expect(limits.map(({ denied }) => denied.requests)).toEqual([1, 3, 0])
    const denied = histogram.bars.map((bar) => bar.denied)
    expect([0, 1, 2].map((i) => denied.reduce((sum, each) => sum + (each[i] as number), 0))).toEqual([
      1, 3, 0,
    ])
    const { stdout } = await run(['replay', ...args, ...several])
    expect(stdout).toContain(`limits compared
  limit         denied requests           denied clients
  3             1 (16.67%)                1 (50.00%)
  1             3 (50.00%)                1 (50.00%)
  9             0 (0.00%)                 0 (0.00%)
`)
    expect(stdout).toMatch(
      /\n3 in 1m \(fixed-window\)\n[\s\S]*\n1 in 1m \(fixed-window\)\n[\s\S]*\n9 in 1m \(fixed-window\)\n/,
    )
  })

  test('one wrong time far ahead is unreadable, and changes no decision', async () => {
    const wrong = combined(0).replace('2026', '2036')
    const good = [0, 1, 2, 3].map((s) => combined(s))
    const [first, ...others] = good
    const file = write('ahead.log', [first, wrong, ...others, wrong].join(''))
    const next = write('next.log', combined(70))
    const { limits, unreadable, requests, to } = await replay([file, next, ...LIMIT])
    expect(unreadable).toMatchObject({ lines: 2, first: { file: 'ahead.log', line: 2 } })
    expect([requests, to]).toEqual([5, '2026-11-24T03:01:10.000Z'])
    expect(limits[0]?.denied.requests).toBe(2)
  })

  test('a wrong time far ahead in the first line is unreadable, and changes no decision', async () => {
    const wrong = combined(0).replace('2026', '2036')
    const log = [wrong, ...[0, 1, 2].map((s) => combined(s)), combined(300)].join('')
    const { limits, unreadable, requests, outOfOrder, to } = await replay(['-', ...LIMIT], log)
    expect(unreadable).toMatchObject({ lines: 1, first: { file: 'standard input', line: 1 } })
    expect([requests, outOfOrder.lines, to]).toEqual([4, 0, '2026-11-24T03:05:00.000Z'])
    expect(limits[0]?.denied.requests).toBe(1)
  })

  test('a wrong time far ahead among requests that --only leaves out is unreadable', async () => {
    const login = [10, 11, 12].map((s) => combined(s, '192.0.2.1', '-', 'POST /login HTTP/1.1'))
    const log = [combined(0), combined(0).replace('2026', '2036'), ...login].join('')
    const { limits, unreadable, to } = await replay(['-', ...LIMIT, '--only', '/login'], log)
    expect(unreadable.first).toEqual({ file: 'standard input', line: 2 })
    expect([limits[0]?.denied.requests, to]).toEqual([1, '2026-11-24T03:00:12.000Z'])
  })

  test('requests of a sparse log, days apart, all count', async () => {
    const days = [3, 9, 24].map((day) => combined(0).replace('24/', `0${day}/`.slice(-3)))
    const { requests, unreadable, from, to } = await replay([write('sparse.log', days.join('')), ...LIMIT])
    expect([requests, unreadable.lines]).toEqual([3, 0])
    expect([from, to]).toEqual(['2026-11-03T03:00:00.000Z', '2026-11-24T03:00:00.000Z'])
  })

  test('requests without an address are one client, and are counted', async () => {
    const lines = ['unix:', '?', '192.0.2.1'].map((address) => combined(0, address))
    const file = write('unknown.log', lines.join(''))
    expect(await replay([file, ...LIMIT])).toMatchObject({ requests: 3, unknownAddresses: 2, clients: 2 })
    const { stdout } = await run(['replay', file, ...LIMIT])
    expect(stdout).toContain('no address    2 requests, counted as one client\n')
    expect(await replay([file, ...LIMIT, '--key', 'ip,user'])).toMatchObject({ unknownAddresses: 2 })
  })

  test('an empty field is missing, and limited per address', async () => {
    const line = (ip: string, key: string) => JSON.stringify({ time: START_MS, ip, key })
    const log = [line('192.0.2.1', ''), line('192.0.2.2', '-'), line('192.0.2.3', '')].join('\n')
    expect(await replay(['-', ...LIMIT, '--key', 'field:key'], log)).toMatchObject({ clients: 3 })
  })

  test('a file of blank lines is a log without requests', async () => {
    const file = write('blank.log', '\n  \n\t\n')
    expect(await replay([file, ...LIMIT])).toMatchObject({ lines: 3, skipped: 3, requests: 0 })
  })

  test('JSON lines may be indented', async () => {
    const line = JSON.stringify({ time: START_MS, ip: '192.0.2.1' })
    const log = `  ${line}\n\t${line}\n`
    expect(await replay(['-', ...LIMIT], log)).toMatchObject({ requests: 2, unreadable: { lines: 0 } })
  })

  test('--html leaves the report as it is, and says below it where the page is', async () => {
    const file = write('paged.log', [0, 1, 2].map((s) => combined(s)).join(''))
    const { stdout: text } = await run(['replay', file, ...LIMIT])
    const { code, stdout } = await run(['replay', file, ...LIMIT, '--html', 'page.html'])
    expect([code, stdout]).toEqual([0, `${text}\npage          page.html\n`])
    expect(readFileSync(join(folder, 'page.html'), 'utf8')).toMatch(/^<!doctype html>/)
    expect(await replay([file, ...LIMIT, '--html', 'page.html'])).toEqual(await replay([file, ...LIMIT]))
  })

  test('a page that cannot be written when the log is read does not cost the report', async () => {
    mkdirSync(join(folder, 'removed'))
    const args = ['replay', '-', ...LIMIT, '--html', 'removed/page.html']
    const child = spawn(process.execPath, [program.path, ...args], { cwd: folder })
    const line = combined(0)
    if (!child.stdin.write(line.repeat(50_000))) await once(child.stdin, 'drain') // the log is being read
    rmSync(join(folder, 'removed'), { recursive: true })
    child.stdin.end()
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    expect(stdout).toContain('denied        49,998 of 50,000 requests')
    expect(stdout).not.toContain('page.html')
    expect([code, stderr]).toEqual([1, 'headgate: cannot write removed/page.html: there is no such folder\n'])
  })

  test('an empty log is a log without requests', async () => {
    expect(await replay([write('empty.log', ''), ...LIMIT])).toMatchObject({
      lines: 0,
      requests: 0,
      from: null,
    })
    expect((await run(['replay', 'empty.log', ...LIMIT])).stdout).toContain('requests      0\n')
  })
})

describe('failures', () => {
  const LIMIT = ['--limit', '2', '--window', '1m']

  beforeAll(() => {
    write('good.log', combined(100))
    write('prose.txt', 'It is a log of nothing.\n'.repeat(2000))
    write('cut.log.gz', gzipSync(combined(0).repeat(100)).subarray(0, 60))
    write('trailing.log.gz', Buffer.concat([gzipSync(combined(0)), Buffer.from('junk\n')]))
  })

  test.each([
    [['missing.log', ...LIMIT], 'cannot read missing.log: there is no such file'],
    [['good.log', 'missing.log', ...LIMIT], 'cannot read missing.log: there is no such file'],
    [['.', ...LIMIT], 'cannot read .: it is a directory'],
    [['cut.log.gz', ...LIMIT], 'cannot read cut.log.gz: the gzip data ends early'],
    [
      ['trailing.log.gz', ...LIMIT],
      'cannot read trailing.log.gz: the gzip data is damaged, or has other data after its end',
    ],
    [['good.log/x', ...LIMIT], 'cannot read good.log/x: there is no such file'],
    [['a\u001b[2J'.repeat(300), ...LIMIT], 'ENAMETOOLONG'],
    [['prose.txt', ...LIMIT], 'prose.txt is not an access log: none of its first 1000 lines'],
    [
      ['good.log', ...LIMIT, '--key', 'field:x'],
      'good.log, line 1: --key field:NAME requires lines of JSON or other fields',
    ],
  ])('an input: %j', async (args, message) => {
    expect(await failureOf(['replay', ...args])).toEqual([1, expect.stringContaining(message)])
  })

  test('a log in the wrong order within one input', async () => {
    const log = [72_000, ...Array(11).keys()].map((seconds) => combined(seconds)).join('')
    const { code, stderr } = await run(['replay', '-', ...LIMIT], log)
    expect([code, stderr]).toEqual([
      1,
      'headgate: standard input is out of order: 11 of its 12 requests are more than an hour older than an earlier one, ' +
        'the first in line 2 (standard input, line 1, is from 2026-11-24 23:00:00Z). ' +
        'Sort it by time, oldest first\n',
    ])
  })

  test('a directory as the standard input, and output that cannot be written', async () => {
    const file = write('good.log', combined(0))
    const shell = async (command: string) => {
      const child = spawn('sh', ['-c', `"$0" "$1" replay ${command}`, process.execPath, program.path], {
        cwd: folder,
      })
      const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
      return [code, stderr]
    }
    const options = LIMIT.join(' ')
    expect(await shell(`- ${options} < .`)).toEqual([
      1,
      'headgate: cannot read standard input: it is a directory\n',
    ])
    const [code, stderr] = await shell(`${file} ${options} > /dev/full`)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^headgate: cannot write the output: ENOSPC[^\n]*\n$/),
    ])
  })

  test.each([
    [[], 'no command given'],
    [['reply'], 'unknown command "reply"'],
    [['replay', ...LIMIT], 'no log given'],
    [['replay', '-', '-', ...LIMIT], '- can be given only once'],
    [['replay', 'good.log', '--window', '1m'], '--limit is required'],
    [['replay', 'good.log', '--limit', '1'], '--window is required'],
    [['replay', 'good.log', '--limit', '1.5', '--window', '1m'], '--limit must be a whole number'],
    [['replay', 'good.log', '--limit', '2', '--window', '60'], '--window must be a duration with a unit'],
    [['replay', 'good.log', ...LIMIT, '--windw', '1m'], 'unknown option "--windw"; did you mean --window?'],
    [['replay', 'good.log', ...LIMIT, '--limit', '2'], '--limit 2 is given twice'],
    [
      ['replay', 'good.log', ...LIMIT, ...[3, 4, 5, 6, 7, 8, 9, 10].flatMap((n) => ['--limit', `${n}`])],
      '--limit can be given at most 8 times',
    ],
    [['replay', 'good.log', ...LIMIT, '--html', '-'], '--html must be a file that ends in .html'],
    [['replay', 'good.log', ...LIMIT, '--html='], '--html must be a file that ends in .html'],
    [['replay', 'good.log', ...LIMIT, '--html', 'good.log'], '--html must be a file that ends in .html'],
    [['replay', 'good.log', ...LIMIT, '-x'], 'unknown option "-x"'],
    [['replay', 'good.log', ...LIMIT, '--policy', 'fixedwindow'], 'did you mean fixed-window?'],
    [['replay', 'good.log', ...LIMIT, '--key', 'ip,'], '--key must be ip, user, path or field:NAME'],
    [['replay', 'good.log', ...LIMIT, '--only', 'login'], '--only must be a path'],
    [['replay', 'good.log', ...LIMIT, '--suggest'], '--suggest requires --policy fixed-window'],
    [['replay', 'good.log', '--limit', '1000000001', '--window', '1s'], 'use --policy sliding-window'],
    [
      ['replay', 'good.log', '--limit', '2', '--window', '1ms', '--policy', 'sliding-window'],
      '--policy sliding-window requires a --window of at least 10ms, got 1ms',
    ],
    [
      ['replay', 'good.log', '--limit', '99999999999', '--window', '1m'],
      '--limit 99999999999 in --window 1m is too fast for a token bucket',
    ],
  ])('an argument: %j', async (args, message) => {
    expect(await failureOf(args)).toEqual([2, expect.stringContaining(message)])
  })

  test('a failure does not wait for the end of the standard input', async () => {
    for (const input of [Buffer.from('prose\n'.repeat(1000)), gzipSync('prose\n'.repeat(1000))]) {
      const child = spawn(process.execPath, [program.path, 'replay', '-', ...LIMIT])
      child.stdin.on('error', () => undefined)
      child.stdin.write(input)
      const [code] = await once(child, 'close')
      expect(code).toBe(1)
    }
  })

  async function failureOf(args: readonly string[]) {
    const { code, stdout, stderr } = await run(args)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^headgate: [^\n]+\n$/)
    return [code, stderr]
  }

  test('help is no failure', async () => {
    for (const args of [['--help'], ['replay', '--help']]) {
      expect(await run(args)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Usage: headgate/),
        stderr: '',
      })
    }
  })
})
