import { FIXED, LIMIT, replay, replayLog, START_MS, useLogFolder, write } from './replay-logs.js'
import { failureOf, mustRun } from './run-command.js'

useLogFolder()

const TIME = '[24/Nov/2026:03:00:00 +0000]'
const main = (address: string, forwarded: string) =>
  `${address} - - ${TIME} "GET /a HTTP/1.1" 200 12 "-" "curl/8" "${forwarded}"\n`
const plain = (address: string) => `${address} - - ${TIME} "GET /a HTTP/1.1" 200 12\n`

/** Returns who sent the most, and how many requests. */
async function clientsOf(log: string, ...options: readonly string[]) {
  const { limits, clients } = await replayLog(log, '--limit', '1', ...FIXED, ...options)
  return [clients, limits[0]?.mostDenied.map(({ client, requests }) => `${client} ${requests}`)]
}

describe('behind a load balancer', () => {
  test('clients are told apart by the forwarded address', async () => {
    const log = Array.from({ length: 50 }, (_, i) => main('10.0.3.4', `198.51.100.${i}`)).join('')
    const report = await replayLog(log, ...LIMIT)
    expect(report).toMatchObject({
      requests: 50,
      clients: 50,
      privateAddresses: 0,
      forwarded: { requests: 50, ignored: 0 },
      firstRequest: {
        client: { value: '198.51.100.0', from: 'field 10' },
        user: { value: null, from: 'field 3' },
        time: { value: '2026-11-24T03:00:00.000Z', from: 'field 4' },
        method: { value: 'GET', from: 'field 5' },
        path: { value: '/a', from: 'field 5' },
      },
    })
    expect(report.limits[0]?.denied.requests).toBe(0)
  })

  test('what a client forwards itself is not read', async () => {
    const forged =
      main('10.0.3.4', '203.0.113.1, 198.51.100.7') + main('10.0.3.4', '203.0.113.2, 198.51.100.7')
    expect(await clientsOf(forged)).toEqual([1, ['198.51.100.7 2']])
  })

  test.each([
    ['in nginx main', main('10.0.3.4', '-'), '10.0.3.4'],
    ['in other lines', plain('192.168.0.9'), '192.168.0.9'],
    ['on this machine', plain('::1'), '::1'],
    ['in a list of proxies', main('10.0.3.4', '10.0.3.5'), '10.0.3.4'],
  ])('only proxies are there %s: the command says so and stops', async (_where, line) => {
    const name = write('proxies.log', line.repeat(99) + plain('198.51.100.7'))
    const message =
      "99 of 100 requests have only a private IP address, such as a proxy's, which --key ip would treat as the client. " +
      'Log X-Forwarded-For beside it (see --format). If these are the clients, add --trust-proxy none'
    expect(await failureOf('replay', name, ...LIMIT)).toEqual([1, message])
    expect(await replay(name, ...LIMIT, '--trust-proxy', 'none')).toMatchObject({ requests: 100, clients: 2 })
    expect(await replay(name, ...LIMIT, '--key', 'path')).toMatchObject({ requests: 100, clients: 1 })
    expect(await replay(name, ...LIMIT, '--trust-proxy', '1')).toMatchObject({ requests: 100 })
  })

  test('only proxies are in the forwarded lists of Envoy, which has no other addresses', async () => {
    const envoy = (list: string) =>
      `${TIME} "GET /a HTTP/1.1" 200 - 0 51 20 19 "${list}" "curl/8" "7f" "a.example" "10.4.0.1:80"\n`
    const name = write('envoy.log', envoy('10.0.3.4').repeat(99) + envoy('10.0.3.5'))
    const [code, text] = await failureOf('replay', name, ...LIMIT)
    expect([code, text]).toEqual([
      1,
      expect.stringContaining('100 of 100 requests have only a private IP address'),
    ])
    expect(await clientsOf(envoy('10.0.3.4').repeat(2), '--trust-proxy', 'none')).toEqual([1, ['10.0.3.4 2']])
    write('envoy.log', envoy('-').repeat(3))
    expect(await failureOf('replay', name, ...LIMIT)).toEqual([
      1,
      "none of the 3 requests has an IP address, which --key ip needs. Log the client's IP address, or choose another --key",
    ])
  })

  test('some private addresses are counted', async () => {
    const log = plain('10.0.0.1').repeat(9) + plain('198.51.100.7')
    expect(await replayLog(log, ...LIMIT)).toMatchObject({ requests: 10, privateAddresses: 9 })
    expect(await mustRun('replay', 'access.log', ...LIMIT)).toContain(
      "private       9 requests, counted by an address that may be a proxy's\n",
    )
  })
})

describe('connections from public addresses', () => {
  test('that a server has read from the list do not distrust it', async () => {
    const caddy = (client: string) => {
      const headers = { 'X-Forwarded-For': [client] }
      const request = { remote_ip: '10.0.0.1', client_ip: client, method: 'GET', uri: '/', headers }
      return `${JSON.stringify({ ts: 1795860000, request })}\n`
    }
    const log = caddy('198.51.100.1') + caddy('198.51.100.2')
    expect(await replayLog(log, ...LIMIT)).toMatchObject({
      clients: 2,
      forwarded: { requests: 0, ignored: 0 },
    })
  })

  test('are the clients, if few forward an address', async () => {
    const log =
      plain('198.51.100.1').repeat(18) + main('203.0.113.9', '192.0.2.1') + main('203.0.113.9', '192.0.2.2')
    const direct = log.replaceAll('200 12\n', '200 12 "-" "x" "-"\n')
    expect(await clientsOf(direct)).toEqual([2, ['198.51.100.1 18', '203.0.113.9 2']])
    expect(await replay('access.log', ...LIMIT)).toMatchObject({ forwarded: { requests: 0, ignored: 2 } })
  })

  test('are those of a CDN, if nearly all forward an address', async () => {
    const log = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => main('203.0.113.9', `192.0.2.${i}`)).join('')
    expect(await clientsOf(log + main('198.51.100.1', '-'))).toEqual([10, []])
    expect(await clientsOf(log, '--trust-proxy', 'private')).toEqual([1, ['203.0.113.9 9']])
    expect(await clientsOf(log, '--trust-proxy', '203.0.113.0/24')).toEqual([9, []])
    expect(await clientsOf(log, '--trust-proxy', '198.51.100.0/24')).toEqual([1, ['203.0.113.9 9']])
  })

  test('a number counts proxies from the server', async () => {
    const log = main('10.0.0.1', '192.0.2.1, 203.0.113.9') + main('10.0.0.1', '192.0.2.2, 203.0.113.9')
    expect(await clientsOf(log)).toEqual([1, ['203.0.113.9 2']])
    expect(await clientsOf(log, '--trust-proxy', '2')).toEqual([2, []])
  })
})

test.each(['0', 'yes', '1.2.3', '', '0.0.0.0/0', '10.0.0.1/8'])(
  '--trust-proxy %j is wrong',
  async (value) => {
    write('access.log', plain('198.51.100.7'))
    expect(await failureOf('replay', 'access.log', ...LIMIT, `--trust-proxy=${value}`)).toEqual([
      2,
      `--trust-proxy must be private, none, the number of proxies, or their IP addresses and CIDR ranges, got "${value}"; ` +
        'write it such as --trust-proxy 1 or --trust-proxy 10.0.0.0/8,192.0.2.7 (for help, run headgate replay --help)',
    ])
  },
)

describe('a log in no known format', () => {
  test.each([
    [
      '2026-11-28T10:00:00Z|198.51.100.7|GET|/a',
      "1 2026-11-28T10:00:00Z, 2 198.51.100.7, 3 GET, 4 /a. Name them with --format, such as --format '$time_iso8601|$remote_addr|$request_method|$request_uri'",
    ],
    [
      '2026-11-28 10:00:00,123 INFO 198.51.100.7 GET /a 200',
      "--format '$time_local $field_3 $remote_addr $request_method $request_uri'",
    ],
    [
      'x y=1 [2026-11-28T10:00:00Z] (198.51.100.7, 10.0.0.1) GET',
      "--format '$field_1 $field_2 [$time_iso8601] ($http_x_forwarded_for) $request_method'",
    ],
    [
      'edge 2026-11-28T10:00:00.1Z lb/50dc 198.51.100.7:2817 10.0.0.1:80 0.1 0.1 0.1 200 200 0 57 "GET https://a.example:443/ HTTP/1.1" "curl/8" "www.example.com" 1',
      ' $field_12 "$request"\'',
    ],
    ['10.0.3.4 GET /a HTTP/1.1 200 12 - 3.2 ms', '--format \'[$time_local] $remote_addr "$request"\''],
    ['[2026-11-28T10:00:00Z] "GET /a HTTP/2" 200', '--format \'[$time_local] $remote_addr "$request"\''],
  ])('is shown with its first fields, and how to name them: %s', async (line, hint) => {
    const name = write('unknown.log', `${line}\n`.repeat(3))
    const [code, text] = await failureOf('replay', name, ...LIMIT)
    expect([code, text]).toEqual([1, expect.stringContaining(hint)])
    const [, format = ''] = / such as --format '(.*)'$/.exec(text) ?? []
    const isWhole = !format.startsWith('[$time_local]')
    if (isWhole)
      expect(await replay(name, ...LIMIT, '--format', format)).toMatchObject({ requests: 3, clients: 1 })
  })

  test('of hostile fields is shown as plain text, on one line', async () => {
    const name = write('hostile.log', `\u001b[2J ${'x'.repeat(500)}\u202e '"\n`)
    const [code, text] = await failureOf('replay', name, ...LIMIT)
    expect(code).toBe(1)
    expect(text).not.toMatch(/[^ -~…]/)
    expect(text.length).toBeLessThan(900)
  })

  test('in another than --format is explained by what is missing', async () => {
    const name = write('other.log', plain('198.51.100.7').repeat(2))
    expect(await failureOf('replay', name, ...LIMIT, '--format', '$remote_addr|$time_iso8601')).toEqual([
      1,
      'other.log is not an access log: none of its first 2 lines is in the format of --format. Its first line has no $remote_addr before "|"',
    ])
  })

  test('reads --format for all lines, and names its variables as where values are from', async () => {
    const name = write('mine.log', '10.0.0.1|198.51.100.7|1795860000.5|GET|/a\ngarbage\n')
    const format = '$remote_addr|$http_x_forwarded_for|$msec|$request_method|$request_uri'
    expect(await replay(name, ...LIMIT, '--format', format)).toMatchObject({
      requests: 1,
      unreadable: { lines: 1, reasons: { unknownFormat: 1 } },
      firstRequest: {
        client: { value: '198.51.100.7', from: '$http_x_forwarded_for' },
        time: { value: '2026-11-28T10:00:00.500Z', from: '$msec' },
        method: { from: '$request_method' },
      },
    })
  })
})

test('the report says what was left out and why, and how the first request was read', async () => {
  const json = (fields: object) =>
    `${JSON.stringify({ time: START_MS, remote_addr: '198.51.100.7', ...fields })}\n`
  const log = [
    ...[
      '\n',
      'garbage\n',
      `198.51.100.7 - - ${TIME} "-" 400 0\n`,
      json({ user: 'ada', method: 'GET', url: '/a?b' }),
    ],
    ...[
      json({ url: '/b' }),
      `${'x'.repeat(5_000_000)}\n`,
      plain('198.51.100.7').replace('2026', '2036'),
      json({ url: '/a' }),
    ],
  ].join('')
  const name = write('left-out.log', log)
  const text = await mustRun('replay', name, ...LIMIT, '--only', '/a')
  expect(text).toContain(`lines         8
unreadable    3, the first is line 2 of left-out.log (1 in no known format, 1 too long, 1 with a time that no other line confirms)
skipped       3 (1 blank, 1 without a request, 1 left out by --only)
requests      2, 2026-11-24 03:00:00Z to 2026-11-24 03:00:00Z
clients       1, by ip
first request client  198.51.100.7 (remote_addr)
              user    ada (user)
              time    2026-11-24 03:00:00Z (time)
              method  GET (method)
              path    /a (url)
`)
})

test('of 5,000 requests behind a load balancer, and 1% garbage, none is denied', async () => {
  const garbage = ['"', '[]', '\u0000\u0001', '{', '10.0.3.4 - - [', `10.0.3.4 - - ${TIME} "GET / HTTP/1.1`]
  const log = Array.from({ length: 5000 }, (_, i) => {
    const line = main('10.0.3.4', `198.51.100.${i % 250}`)
    return i % 100 === 0 ? `${garbage[(i / 100) % garbage.length]}\n${line}` : line
  }).join('')
  const { limits, ...report } = await replayLog(log, '--limit', '20', ...FIXED)
  expect([report.requests, report.clients, report.unreadable.lines]).toEqual([5000, 250, 50])
  expect(limits[0]?.denied.requests).toBe(0)
})
