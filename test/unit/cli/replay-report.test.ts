import { FIXED, LIMIT, line, lines, replayLog, START_MS, useLogFolder, write } from './replay-logs.js'
import { mustRun } from './run-command.js'

useLogFolder()

describe('the report', () => {
  test('is text for people: what was read, who was denied, when, and what would deny few', async () => {
    const many = Array.from({ length: 12 }, (_, i) => lineOf(20 + (i % 3), `198.51.100.${i}`, i + 3))
    const name = write(
      'people.log',
      [...many, 'garbage\n', line(24, 'unix:'), line(23), line(25, '192.0.2.1', '-')].join(''),
    )
    const text = await mustRun('replay', name, '--limit', '2', '--limit', '14', ...FIXED, '--suggest')
    expect(text).toBe(`lines         106
unreadable    1, the first is line 103 of people.log (1 in no known format)
skipped       1 (1 without a request)
out of order  58, by up to 2 s: sorted
requests      104, 2026-11-24 03:00:20Z to 2026-11-24 03:00:24Z
no address    1 requests, counted as one client
clients       14, by ip
first request client  198.51.100.0 (field 1)
              user    none
              time    2026-11-24 03:00:20Z (field 4)
              method  GET (field 5)
              path    / (field 5)

limits compared
  limit         denied requests           denied clients
  2             78 (75.00%)               12 (85.71%)
  14            0 (0.00%)                 0 (0.00%)

2 in 1m (fixed-window)
denied        78 of 104 requests (75.00%)
              12 of 14 clients (85.71%)
when          2026-11-24 03:00:20Z to 2026-11-24 03:00:22Z

  denied in each 1s
  2026-11-24 03:00:20Z  ##############################            22 of 30
  2026-11-24 03:00:21Z  ###################################       26 of 34
  2026-11-24 03:00:22Z  ########################################  30 of 38
  2026-11-24 03:00:23Z                                            0 of 1
  ...

  denied most
  198.51.100.11  12 of 14
  198.51.100.10  11 of 13
  198.51.100.9   10 of 12
  198.51.100.8   9 of 11
  198.51.100.7   8 of 10
  198.51.100.6   7 of 9
  198.51.100.5   6 of 8
  198.51.100.4   5 of 7
  198.51.100.3   4 of 6
  198.51.100.2   3 of 5

14 in 1m (fixed-window)
denied        0 of 104 requests (0.00%)
              0 of 14 clients (0.00%)

smallest limits in 1m (fixed-window)
  deny at most  of requests               of clients
  0%            14 (denies 0)             14 (denies 0)
  0.1%          14 (denies 0)             14 (denies 0)
  1%            13 (denies 1)             14 (denies 0)
`)
  })

  /** Returns several lines of one client in one second. */
  function lineOf(second: number, address: string, times: number): string {
    return line(second, address).repeat(times)
  }

  test('is one object with --json', async () => {
    const report = await replayLog(`${lines(0, 1, 2, 61)}x\n${line(62, '192.0.2.2')}`, ...LIMIT, '--suggest')
    expect(report).toEqual({
      lines: 6,
      unreadable: { lines: 1, first: { file: 'access.log', line: 5 }, reasons: { unknownFormat: 1 } },
      skipped: 0,
      skippedReasons: {},
      firstRequest: {
        file: 'access.log',
        line: 1,
        client: { value: '192.0.2.1', from: 'field 1' },
        user: { value: null, from: 'field 3' },
        time: { value: '2026-11-24T03:00:00.000Z', from: 'field 4' },
        method: { value: 'GET', from: 'field 5' },
        path: { value: '/', from: 'field 5' },
      },
      outOfOrder: { lines: 0, mostMs: 0, late: 0 },
      repeatedHours: [],
      timeZone: null,
      requests: 5,
      unknownAddresses: 0,
      privateAddresses: 0,
      forwarded: { requests: 0, ignored: 0 },
      clients: 2,
      key: 'ip',
      from: '2026-11-24T03:00:00.000Z',
      to: '2026-11-24T03:01:02.000Z',
      limits: [
        {
          policy: 'fixed-window',
          limit: 2,
          windowMs: 60_000,
          denied: {
            requests: 1,
            requestShare: 0.2,
            clients: 1,
            clientShare: 0.5,
            firstAt: '2026-11-24T03:00:02.000Z',
            lastAt: '2026-11-24T03:00:02.000Z',
          },
          mostDenied: [{ client: '192.0.2.1', requests: 4, denied: 1 }],
        },
      ],
      histogram: {
        widthMs: 5000,
        bars: Array.from({ length: 13 }, (_, i) => ({
          at: new Date(START_MS + 5000 * i).toISOString(),
          requests: { 0: 3, 12: 2 }[i] ?? 0,
          denied: [i === 0 ? 1 : 0],
        })),
      },
      suggestions: {
        policy: 'fixed-window',
        windowMs: 60_000,
        requests: suggested(3),
        clients: suggested(3),
      },
    })
  })

  test('of an empty log has no times', async () => {
    expect(await replayLog('', ...LIMIT)).toMatchObject({
      lines: 0,
      requests: 0,
      from: null,
      to: null,
      limits: [{ denied: { requestShare: 0, clientShare: 0, firstAt: null, lastAt: null }, mostDenied: [] }],
    })
    expect(await mustRun('replay', 'access.log', ...LIMIT)).toContain('requests      0\nclients       0')
  })

  test.each([
    [['--policy', 'token-bucket'], 'token-bucket', 2],
    [[], 'token-bucket', 2],
    [['--policy', 'sliding-window'], 'sliding-window', 3],
    [['--policy', 'first-request'], 'first-request', 3],
  ])('%j decides by that policy', async (policy, name, denied) => {
    const { limits } = await replayLog(
      lines(0, 1, 2, 29, 30, 62),
      '--limit',
      '2',
      '--window',
      '1m',
      ...policy,
    )
    expect(limits).toMatchObject([{ policy: name, limit: 2, windowMs: 60_000, denied: { requests: denied } }])
    expect(limits[0]?.denied.firstAt).toBe('2026-11-24T03:00:02.000Z')
  })

  test('of suggestions by windows from the first request says so', async () => {
    const args = ['--window', '1m', '--policy', 'first-request', '--suggest']
    const { suggestions, limits } = await replayLog(lines(50, 55, 65, 109, 111), ...args)
    expect(limits).toEqual([])
    expect(suggestions).toMatchObject({ policy: 'first-request', requests: suggested(4) })
    expect(await mustRun('replay', 'access.log', ...args)).toMatch(
      /\n\nsmallest limits in 1m \(first-request\)\n/,
    )
    expect((await replayLog(lines(50, 55, 65, 109, 111), ...FIXED, '--suggest')).suggestions).toMatchObject({
      requests: suggested(3),
    })
  })

  const suggested = (limit: number) => [0, 0.001, 0.01].map((share) => ({ share, limit, denied: 0 }))

  test('shows what a client sent as plain text', async () => {
    const hostile = line(0, '192.0.2.1', 'GET / HTTP/1.1', 'x\\x1b[2J\\xe2\\x80\\xae')
    const name = write('hostile.log', hostile.repeat(3))
    const text = await mustRun('replay', name, ...LIMIT, '--key', 'user')
    expect(text).toMatch(/ {2}user:x\\u\S+\[2J\\u\S+ {2}1 of 3\n/)
    expect(text).not.toMatch(/[^\n -~]/)
    const json = await mustRun('replay', name, ...LIMIT, '--key', 'user', '--json')
    expect(json).not.toMatch(/[^\n -~]/)
    expect(JSON.parse(json).limits[0].mostDenied[0].client).toBe('user:x\u001b[2J\u202e')
  })
})
