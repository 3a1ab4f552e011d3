import { readLines } from './json-reader.js'
import { LIMIT, replay, replayLog, useLogFolder, write } from './replay-logs.js'
import { failureOf } from './run-command.js'

useLogFolder()

const GET = {
  timeMs: Date.UTC(2026, 10, 29, 12),
  address: '198.51.100.7',
  user: undefined,
  method: 'GET',
  path: '/users',
}
const WITH_PORT = { ...GET, address: '198.51.100.7:4711' }
const ADA = { ...GET, user: 'ada' }

const CLASSIC = '2026-11-29T12:00:00.000000Z web 198.51.100.7:4711 10.0.0.1:80 0.1 0.2 0.1 200 200 0 29'
const ALB = CLASSIC.replace('Z web', 'Z app/web/50dc6c495c0c9188')
const ALB_END =
  '"curl/8" - - arn:aws:target "Root=1-58" "-" "-" 0 2026-11-29T11:59:59.9Z "forward" "-" "-" "10.0.0.1:80"'
const OWNER = '79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be'
const S3 = `${OWNER} files [29/Nov/2026:12:00:00 +0000] 198.51.100.7 - 3E57427F3E REST.GET.OBJECT a.png`
const UWSGI = '[pid: 12|app: 0|req: 1/7] 198.51.100.7 (ada) {40 vars in 600 bytes} [Sun Nov 29 12:00:00 2026]'
const HAPROXY = '198.51.100.7:4711 [29/Nov/2026:12:00:00.000] web~ be/s1 10/0/30/69/109 200 2750 - - ----'
const ROUTER = '2026-11-29T12:00:00.000000+00:00 heroku[router]: at=info method=GET'
const CADDY =
  '2026/11/29 12:00:00.000\tinfo\thttp.log.access\thandled request\t{"request": {"remote_ip": "198.51.100.7", "method": "GET", "uri": "/users?a"}, "status": 200}'

const FORMATS: [name: string, line: string, request: object][] = [
  ['a time of C', '198.51.100.7 - - [Sun Nov 29 12:00:00 2026] "GET /users HTTP/1.1" 200 12', GET],
  [
    'a time of C with a fraction',
    '198.51.100.7 - ada [Sun Nov 29 12:00:00.123456 2026] "GET /users HTTP/1.1" 200 12',
    { ...ADA, timeMs: GET.timeMs + 123.456 },
  ],
  [
    'a time of C on a day with one digit',
    '198.51.100.7 - - [Sun Nov  1 12:00:00 2026] "GET /users HTTP/1.1" 200 12',
    { ...GET, timeMs: Date.UTC(2026, 10, 1, 12) },
  ],
  ['an ALB of AWS', `h2 ${ALB} "GET https://a.example:443/users?a HTTP/2.0" ${ALB_END}`, WITH_PORT],
  ['a CLB of AWS', `${CLASSIC} "GET http://a.example:80/users HTTP/1.1" "curl/8" - -`, WITH_PORT],
  ['S3', `${S3} "GET /users?versioning HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" -`, GET],
  ['uWSGI', `${UWSGI} GET /users?a=1 => generated 12 bytes in 1 msecs (HTTP/1.1 200)`, ADA],
  ['the server of PHP', '[Sun Nov 29 12:00:00 2026] 198.51.100.7:4711 [200]: GET /users', WITH_PORT],
  ['Gin', '[GIN] 2026/11/29 - 12:00:00 | 200 |     1.23ms |    198.51.100.7 | GET      "/users?a"', GET],
  [
    'Gin, in colours',
    '[GIN] 2026/11/29 - 12:00:00 |\u001b[97;42m 200 \u001b[0m|     1.23ms |    198.51.100.7 |\u001b[97;44m GET     \u001b[0m "/users"',
    GET,
  ],
  [
    'Reactor Netty',
    '198.51.100.7 - ada [2026-11-29T13:00:00.123+01:00[Europe/Berlin]] "GET /users?a HTTP/1.1" 200 12 3',
    { ...ADA, timeMs: GET.timeMs + 123 },
  ],
  [
    'Reactor Netty in UTC',
    '198.51.100.7 - - [2026-11-29T12:00:00Z[Etc/UTC]] "GET /users HTTP/1.1" 200 12 3',
    GET,
  ],
  ['Tornado', '[I 261129 12:00:00 web:2243] 200 GET /users?a=(b) (198.51.100.7) 1.23ms', GET],
  [
    'Tornado, with a failure',
    '[W 261129 12:00:00 web:2243] 404 GET /users (2001:db8::7) 1.23ms',
    { ...GET, address: '2001:db8::7' },
  ],
  [
    'OpenLiteSpeed',
    '"198.51.100.7 - ada [29/Nov/2026:12:00:00 +0000] "GET /users HTTP/1.1" 200 12 "-" "curl/8""',
    ADA,
  ],
  [
    'OpenLiteSpeed, with the host',
    '"a.example 198.51.100.7 - - [29/Nov/2026:12:00:00 +0000] "GET /users?a HTTP/2" 200 12"',
    GET,
  ],
  [
    'Fiber, with a date',
    '2026-11-29T12:00:00Z | 200 |      1.23ms |    198.51.100.7 | GET     | /users?a      | -',
    GET,
  ],
  [
    'Fiber, in colours',
    '2026-11-29 12:00:00 |\u001b[92m 200 \u001b[0m|      1.23ms |    198.51.100.7 |\u001b[96m GET     \u001b[0m| /users | ',
    GET,
  ],
  [
    'chi',
    '2026/11/29 12:00:00 "GET http://a.example/users?a HTTP/1.1" from 198.51.100.7:4711 - 200 12B in 1ms',
    WITH_PORT,
  ],
  [
    'Squid',
    '1795953600.000    310 198.51.100.7 TCP_MISS/200 12 GET http://a.example/users ada HIER_DIRECT/10.0.0.1 text/html',
    ADA,
  ],
  ['Rails', 'Started GET "/users?a" for 198.51.100.7 at 2026-11-29 12:00:00 +0000', GET],
  ['HAProxy', `${HAPROXY} 1/1/1/1/0 0/0 {a.example} {} "GET /users HTTP/1.1"`, WITH_PORT],
  [
    "Heroku's router",
    `${ROUTER} path="/users?a=1" host=a fwd="198.51.100.7" dyno=web.1 connect= status=200`,
    GET,
  ],
  [
    "Heroku's router, as a drain sends it",
    '<158>1 2026-11-29T12:00:00+00:00 host heroku router - at=info method=GET path="/users" fwd="198.51.100.7"',
    GET,
  ],
  [
    "Heroku's router, with a list that a client began",
    `${ROUTER} path="/users" fwd="203.0.113.9,198.51.100.7"`,
    GET,
  ],
  [
    'logfmt',
    'time=2026-11-29T12:00:00Z level=INFO msg="a request" method=GET path=/users remote_addr=198.51.100.7:4711 ok',
    WITH_PORT,
  ],
  ["Caddy's console", CADDY, GET],
]

test.each(FORMATS)('%s', (_, line, request) => {
  expect(readLines([line])).toEqual([request])
})

describe('a replay reads', () => {
  test.each(FORMATS)('%s', async (_, line) => {
    const report = await replayLog(`${line}\r\n`.repeat(3), ...LIMIT)
    expect(report).toMatchObject({ lines: 3, requests: 3, clients: 1, unreadable: { lines: 0 } })
    expect(report.firstRequest).toMatchObject({
      client: { from: expect.any(String) },
      time: { from: expect.any(String) },
      path: { from: expect.any(String) },
    })
  })

  test.each([
    ['syslog', 'Nov 29 12:00:00 lb haproxy[14389]: '],
    ['no time', 'haproxy[14389]: '],
  ])('HAProxy behind a prefix of %s', async (_, prefix) => {
    const log = [`"GET /users HTTP/1.1"`, '"<BADREQ>"'].map(
      (request) => `${prefix}${HAPROXY} 1/1/1/1/0 0/0 ${request}\n`,
    )
    expect(await replayLog(log.join(''), ...LIMIT)).toMatchObject({ requests: 1, skipped: 1 })
  })

  test.each([
    ['aiohttp', 'INFO:aiohttp.access:198.51.100.7 [29/Nov/2026:12:00:00 +0000] "GET /users HTTP/1.1" 200 1'],
    [
      'Ambassador',
      'ACCESS [2026-11-29T12:00:00.000Z] "GET /users HTTP/1.1" 200 - 0 51 20 19 "198.51.100.7" "curl/8" "7f" "a.example" "10.4.0.1:80"',
    ],
  ])('lines of %s, with its prefix', async (_, line) => {
    expect(await replayLog(`${line}\n`.repeat(3), ...LIMIT)).toMatchObject({ requests: 3, clients: 1 })
  })

  test('lines of Fly, with its prefix', async () => {
    const log =
      '2026-11-29T12:00:01Z app[3287146b6d4d85] ams [info]198.51.100.7 - - [29/Nov/2026:12:00:00 +0000] "GET /users HTTP/1.1" 200 12\n'
    expect((await replayLog(log.repeat(3), ...LIMIT)).firstRequest).toMatchObject({
      time: { value: '2026-11-29T12:00:00.000Z' },
      client: { value: '198.51.100.7' },
    })
  })

  test('logfmt in a field of a collector, and behind a prefix', async () => {
    const pairs = 'time=2026-11-29T12:00:00Z method=GET path=/users ip=198.51.100.7'
    const logs = [JSON.stringify({ log: `${pairs}\n`, stream: 'stdout' }), `web-1  | ${pairs}`]
    const reports = []
    for (const log of logs) reports.push(await replayLog(`${log}\n`.repeat(3), ...LIMIT))
    expect(reports).toMatchObject(logs.map(() => ({ requests: 3, clients: 1, unreadable: { lines: 0 } })))
  })
})

test('lines of these formats without a request are none', () => {
  expect(
    readLines([
      `http ${ALB} "- http://a.example:80- " "-" - - - "-" "-" "-" 0 - "-" "-" "-"`,
      `${CLASSIC} "- - - " "-" - -`,
      `${HAPROXY} 1/1/1/1/0 0/0 "<BADREQ>"`,
    ]),
  ).toEqual(['other', 'other', 'other'])
})

const FORGED = '203.0.113.1'
const LONG = 'x'.repeat(1_000_000)

/** Lines into which a client has put what it wants to be read. Each still counts as the client's request. */
const ATTACKS: [name: string, line: string, request: object][] = [
  [
    'ALB, quotes in the agent',
    `https ${ALB} "GET https://a/users HTTP/1.1" "x" ${FORGED}:1 "GET / HTTP/1.1" ${ALB_END}`,
    WITH_PORT,
  ],
  [
    'ALB, an escaped quote in the target',
    `https ${ALB} "GET https://a/users\\" HTTP/1.1" ${ALB_END}`,
    { ...WITH_PORT, path: '/users"' },
  ],
  ['ALB, long', `https ${ALB} "GET https://a/users?${LONG} HTTP/1.1" ${ALB_END}`, WITH_PORT],
  ['uWSGI, a target with an arrow', `${UWSGI} GET /users?=>generated => generated 1 bytes`, ADA],
  [
    'Gin, a quote in the path',
    String.raw`[GIN] 2026/11/29 - 12:00:00 | 200 | 1ms | 198.51.100.7 | GET      "/a\" | ${FORGED} b"`,
    { ...GET, path: `/a" | ${FORGED} b` },
  ],
  [
    'Rails, a quote in the path',
    `Started GET "/a"for" for 198.51.100.7 at 2026-11-29 12:00:00 +0000`,
    { ...GET, path: '/a"for' },
  ],
  [
    'Heroku, a field in the path',
    `${ROUTER} path="/a"fwd="${FORGED}"" host=a fwd="198.51.100.7"`,
    { ...GET, path: `/a"fwd="${FORGED}"` },
  ],
  [
    'Heroku, a backslash at the end of the path',
    `${ROUTER} path="/a\\" host=a fwd="198.51.100.7" dyno=web.1`,
    { ...GET, path: '/a\\' },
  ],
  [
    'logfmt, a field in quotes',
    `time=2026-11-29T12:00:00Z method=GET path=/users ip=198.51.100.7 ua="\\" ip=${FORGED} \\\\"`,
    GET,
  ],
  [
    'logfmt, a field twice',
    `time=2026-11-29T12:00:00Z method=GET path=/users ip=198.51.100.7 x ip=${FORGED}`,
    GET,
  ],
  [
    'logfmt, long',
    `time=2026-11-29T12:00:00Z method=GET path=/users ip=198.51.100.7 ua="${'a="'.repeat(300_000)}`,
    GET,
  ],
  [
    "Caddy's console, JSON in the target",
    CADDY.replace('/users?a', String.raw`/users?\t{\"ip\":\"${FORGED}\"}`),
    GET,
  ],
  [
    'logfmt, binary',
    `time=2026-11-29T12:00:00Z method=GET path="/\\x00\\u001b[2J" ip=198.51.100.7`,
    { ...GET, path: '/\0\u001b[2J' },
  ],
]

test.each(ATTACKS)('an attack in %s', (_, line, request) => {
  expect(readLines([line])).toEqual([request])
})

test('a client cannot write a line in another format than its log', async () => {
  const line = '198.51.100.7 - - [29/Nov/2026:12:00:00 +0000] "GET /users HTTP/1.1" 200 12\n'
  const forged = FORMATS.map(([, text]) => `${text}\n`)
  const log = line.repeat(100) + forged.join('')
  const { requests, unreadable } = await replayLog(log, ...LIMIT)
  expect([requests, unreadable.lines]).toEqual([107, forged.length - 7])
})

test('a log whose lines have no request lines fails', async () => {
  write('no-requests.log', '198.51.100.7 - - [29/Nov/2026:12:00:00 +0000] "-" 408 0\n'.repeat(3))
  write('verbs.log', '2026-11-29 12:00:00 198.51.100.7 GET /a 200 12 1 "-" "curl"\n'.repeat(3))
  write('quiet.log', '#Version: 1.0\n#Fields: date time c-ip cs-method\n')
  for (const name of ['no-requests.log', 'verbs.log'])
    expect(await failureOf('replay', name, ...LIMIT)).toEqual([
      1,
      expect.stringContaining(
        `${name} has no requests: none of its 3 lines has a request line. The fields of`,
      ),
    ])
  expect(await replay('quiet.log', ...LIMIT)).toMatchObject({ requests: 0, skipped: 2 })
})

test('logfmt with unknown names is shown with them, and --fields and --key read them', async () => {
  const name = write(
    'names.log',
    'at=2026-11-29T12:00:00Z peer=198.51.100.7 verb=GET where=/users who=ada\n'.repeat(3),
  )
  expect(await failureOf('replay', name, ...LIMIT)).toEqual([
    1,
    expect.stringContaining(
      'The fields of its first line are: at, peer, verb, where, who. Name them with --fields',
    ),
  ])
  const names = ['--fields', 'time=at,client=peer,method=verb,path=where']
  const { limits } = await replay(name, ...LIMIT, ...names, '--only', 'GET /users', '--key', 'field:who')
  expect(limits[0]?.mostDenied).toEqual([{ client: 'ada', requests: 3, denied: 1 }])
})

describe('a line that bars, tabs, commas or semicolons cut is shown with its columns, and with a format that reads it', () => {
  test.each([
    [
      '2026-11-29T12:00:00Z|web|198.51.100.7|GET|/users|200',
      '$time_iso8601|$field_2|$remote_addr|$request_method|$request_uri|$field_6',
    ],
    [
      'web | 2026-11-29T12:00:00Z | 198.51.100.7 | GET /users',
      '$field_1 | $time_iso8601 | $remote_addr | $request',
    ],
    [
      'web |   198.51.100.7 | 2026-11-29T12:00:00Z | GET /users',
      '$field_1|$remote_addr|$time_iso8601|$request',
    ],
    [
      'web\t2026-11-29 12:00:00\t198.51.100.7\tGET\t/users\t200',
      String.raw`$field_1\t$time_local\t$remote_addr\t$request_method\t$request_uri\t$field_6`,
    ],
    [
      '2026-11-29T12:00:00Z,198.51.100.7,GET,/users,200',
      '$time_iso8601,$remote_addr,$request_method,$request_uri,$field_5',
    ],
    [
      '2026-11-29 12:00:00,123; 198.51.100.7; GET /users; 0,004',
      '$time_local; $remote_addr; $request; $field_4',
    ],
    [
      '"2026-11-29T12:00:00Z","Mozilla (X, ""Y"", Z)","198.51.100.7","GET","/users","200"',
      '$time_iso8601,$field_2,$remote_addr,$request_method,$request_uri,$field_6',
    ],
    [
      'web,1.5,"a;b;c;d;e;f;g",2026-11-29T12:00:00Z,198.51.100.7,"GET /users"',
      '$field_1,$field_2,$field_3,$time_iso8601,$remote_addr,$request',
    ],
    [
      '2026-11-29 12:00:00 "a,b,c;d;e" 198.51.100.7 GET /users',
      '$time_local "$field_3" $remote_addr $request_method $request_uri',
    ],
    [
      '2026-11-29 12:00:00 "a|b|c" 198.51.100.7 GET /users',
      '$time_local "$field_3" $remote_addr $request_method $request_uri',
    ],
  ])('%j', async (line, format) => {
    const name = write('columns.log', `${line}\n`.repeat(3))
    expect(await failureOf('replay', name, ...LIMIT)).toEqual([
      1,
      expect.stringContaining(`Name them with --format, such as --format '${format}'`),
    ])
    const { requests, limits, clients } = await replay(
      name,
      ...LIMIT,
      '--format',
      format,
      '--only',
      'GET /users',
    )
    expect([requests, clients, limits[0]?.mostDenied]).toEqual([
      3,
      1,
      [{ client: '198.51.100.7', requests: 3, denied: 1 }],
    ])
  })

  test('columns of other widths are read by the same format', async () => {
    const lines = ['198.51.100.7', '1.2.3.4'].map(
      (address) => `web | ${address.padStart(15)} | 2026-11-29T12:00:00Z | ok`,
    )
    const { clients } = await replayLog(
      lines.join('\n'),
      ...LIMIT,
      '--format',
      '$field_1|$remote_addr|$time_iso8601|$field_4',
    )
    expect(clients).toBe(2)
  })

  test('cells have quotes where they need them, and no client can write another cell in them', async () => {
    const lines = [
      '2026-11-29T12:00:00Z,curl/8,198.51.100.7,/users',
      '2026-11-29T12:00:00Z,"x,203.0.113.9,/a",198.51.100.7,/users',
      '2026-11-29T12:00:00Z,"x"",203.0.113.9,""/a",198.51.100.7,"/users"',
      '2026-11-29T12:00:00Z,,198.51.100.7,/users?a',
      '2026-11-29T12:00:00Z,"",198.51.100.7,"/users?a=""b"",c"',
    ]
    const format = '$time_iso8601,$field_2,$remote_addr,$request_uri'
    const { requests, limits } = await replayLog(
      lines.join('\n'),
      ...LIMIT,
      '--format',
      format,
      '--only',
      '/users',
    )
    expect([requests, limits[0]?.mostDenied]).toEqual([
      5,
      [{ client: '198.51.100.7', requests: 5, denied: 3 }],
    ])
  })

  test('a line of cells in which no time is recognized is shown with its cells', async () => {
    const name = write('cells.log', 'noon,198.51.100.7,GET,"/users, all"\n')
    expect(await failureOf('replay', name, ...LIMIT)).toEqual([
      1,
      expect.stringContaining('are: 1 noon, 2 198.51.100.7, 3 GET, 4 /users, all. Name them'),
    ])
  })
})

describe('a log that has no requests is named', () => {
  test.each([
    ['12:00:00 | 200 |      1.23ms |    198.51.100.7 | GET     | /users      | -', 'no dates'],
    [
      '[Nest] 1234  - 11/29/2026, 12:00:00 PM     LOG [NestFactory] Starting Nest application...',
      "Nest's console",
    ],
    [
      '\u001b[32m[Nest] 1234  - \u001b[39m11/29/2026, 12:00:00 PM \u001b[32m    LOG\u001b[39m x',
      "Nest's console",
    ],
    [
      '2026/11/29 12:00:00 [error] 12#12: *1 open() failed, client: 198.51.100.7, request: "GET / HTTP/1.1"',
      "nginx' error log",
    ],
    [
      '[Sun Nov 29 12:00:00.123456 2026] [core:error] [pid 1:tid 2] [client 198.51.100.7:4711] AH00126',
      "Apache's error log",
    ],
    ['GET /users 200 3.2 ms - 12', 'neither times nor IP addresses'],
    ['\u001b[0mGET /users \u001b[32m200\u001b[0m 3.2 ms - 12\u001b[0m', 'neither times nor IP addresses'],
    ['<-- GET /users', 'neither times nor IP addresses'],
    ['INFO:     198.51.100.7:4711 - "GET /users HTTP/1.1" 200 OK', 'no times'],
    ['198.51.100.7 - GET /users HTTP/1.1 200 12 - 3.2 ms', 'no times'],
  ])('%j', async (line, problem) => {
    const name = write('other.log', `${line}\n`.repeat(3))
    expect(await failureOf('replay', name, ...LIMIT)).toEqual([1, expect.stringContaining(problem)])
  })
})
