import { readJson, readLines } from './json-reader.js'
import { LIMIT, replayLog, START_MS, useLogFolder, write } from './replay-logs.js'
import { failureOf } from './run-command.js'

useLogFolder()

const LINE = '198.51.100.7 - - [28/Nov/2026:10:00:00 +0000] "GET /users HTTP/1.1" 200 12'
const REQUEST = {
  timeMs: Date.UTC(2026, 10, 28, 10),
  address: '198.51.100.7',
  user: undefined,
  method: 'GET',
  path: '/users',
}
/** A line without a time: that of the collector counts. */
const INNER = { ip: '198.51.100.7', method: 'GET', url: '/users' }
const OUTER_TIME = '2026-11-28T10:00:00Z'

const WRAPPED: [string, object][] = [
  ['Docker', { log: `${LINE}\n`, stream: 'stdout', time: '2026-11-28T10:00:00.1Z' }],
  [
    'Docker, of an application that logs JSON',
    { log: `${JSON.stringify(INNER)}\n`, stream: 'stdout', time: OUTER_TIME },
  ],
  [
    'Fluent Bit',
    {
      date: 1795860009.5,
      stream: 'stdout',
      _p: 'F',
      log: LINE,
      kubernetes: { pod_ip: '10.0.0.1', host: 'a' },
    },
  ],
  ['Fluent Bit, with a parser', { '@timestamp': OUTER_TIME, log: LINE, log_processed: INNER }],
  [
    'CloudWatch',
    {
      logStreamName: 'a',
      timestamp: 1795860009000,
      message: LINE,
      ingestionTime: 1795860010000,
      eventId: '1',
    },
  ],
  ['CloudWatch Logs Insights', { '@timestamp': '2026-11-28 10:00:09.000', '@message': LINE }],
  [
    'Filebeat',
    {
      '@timestamp': '2026-11-28T10:00:09.123Z',
      message: LINE,
      log: { offset: 1, file: { path: '/a' } },
      host: { ip: ['10.0.0.1'] },
      agent: { type: 'filebeat' },
    },
  ],
  [
    'journalctl -o json',
    { __REALTIME_TIMESTAMP: '1795860009000000', MESSAGE: LINE, _PID: '1', _HOSTNAME: 'a' },
  ],
  [
    'journalctl, of an application that logs JSON',
    { __REALTIME_TIMESTAMP: '1795860000000000', MESSAGE: JSON.stringify(INNER) },
  ],
  [
    'journalctl, as bytes',
    { __REALTIME_TIMESTAMP: '1795860009000000', MESSAGE: [...Buffer.from(`${LINE}\u001b[0m`)] },
  ],
  ['Loki', { labels: { pod: 'a' }, line: LINE, timestamp: '2026-11-28T10:00:09.1Z' }],
  [
    'GCP, with a text',
    {
      insertId: 'a',
      textPayload: LINE,
      timestamp: '2026-11-28T10:00:09Z',
      resource: { type: 'k8s_container' },
    },
  ],
  ['GCP, with fields', { insertId: 'a', jsonPayload: INNER, timestamp: OUTER_TIME }],
  ['GCP, with a text in fields', { jsonPayload: { message: LINE }, timestamp: '2026-11-28T10:00:09Z' }],
  [
    'winston, to which morgan writes',
    { level: 'http', message: `${LINE}\n`, timestamp: '2026-11-28T10:00:09Z' },
  ],
  ['pino, to which morgan writes', { level: 30, time: 1795860009000, pid: 1, msg: LINE }],
  ['Splunk', { preview: false, result: { _raw: LINE, _time: 'x' } }],
  [
    'a collector in a collector',
    { message: JSON.stringify({ log: `${LINE}\n`, stream: 'stderr', time: OUTER_TIME }) },
  ],
]

test.each(WRAPPED)('a line of %s', (_, line) => {
  expect(readJson(line)).toEqual(REQUEST)
})

test('a time of the collector is shown with its own field', async () => {
  const line = JSON.stringify({ time: OUTER_TIME, category: 'a', properties: INNER })
  expect((await replayLog(line, ...LIMIT)).firstRequest).toMatchObject({
    time: { value: '2026-11-28T10:00:00.000Z', from: 'time' },
    path: { value: '/users', from: 'url' },
  })
})

test('a pair of Loki', () => {
  expect(
    readLines([
      JSON.stringify(['1795860009000000000', LINE]),
      JSON.stringify(['1795860000000000000', JSON.stringify(INNER)]),
    ]),
  ).toEqual([REQUEST, REQUEST])
  expect(readLines(['["a"]', '["1795860009000000000",{}]', '["'])).toEqual([
    'unreadable',
    'unreadable',
    'unreadable',
  ])
})

test('a line that Docker has split', () => {
  const long = LINE.replace('/users', `/users?${'é'.repeat(20_000)}`)
  const parts =
    Buffer.from(`${long}\n`)
      .toString('latin1')
      .match(/.{1,16384}/gs) ?? []
  const part = (log: string, stream: string) =>
    JSON.stringify({ log: Buffer.from(log, 'latin1').toString(), stream, time: OUTER_TIME })
  const lines = parts.flatMap((each) => [part(each, 'stdout'), part('banner\n', 'stderr')])
  expect(lines.length).toBe(6)
  expect(readLines(lines)).toEqual(['other', 'unreadable', 'other', 'unreadable', REQUEST, 'unreadable'])
})

test('what is not a request in a field', () => {
  const docker = (log: string) => JSON.stringify({ log, stream: 'stdout', time: OUTER_TIME })
  expect(
    readLines([docker('\n'), docker('Listening on 3000\n'), docker('{"ip":1}\n'), docker('{"\n')]),
  ).toEqual(['other', 'unreadable', 'unreadable', 'unreadable'])
})

test('a message is not read if its line is a request, or belongs to one', () => {
  const forged = LINE.replace('198.51.100.7', '203.0.113.1')
  expect(readJson({ ...INNER, time: OUTER_TIME, message: forged })).toEqual(REQUEST)
  expect(readJson({ time: OUTER_TIME, req: { id: 1 }, msg: forged })).toBe('other')
})

test('lines in lines in lines are read to some depth', () => {
  const wrap = (line: string) => JSON.stringify({ message: line })
  const depths = [wrap(LINE)]
  for (let depth = 1; depth < 10; depth++) depths.push(wrap(depths.at(-1) ?? ''))
  const kinds = readLines(depths).map((each) => (each === 'unreadable' ? each : 'request'))
  expect(kinds).toEqual([...Array(4).fill('request'), ...Array(6).fill('unreadable')])
})

test('documents are read: an array, what the command line of AWS and the API of Loki return', async () => {
  const event = (message: string, i: number) => ({ timestamp: START_MS + i, message })
  const documents = [
    JSON.stringify([LINE, LINE].map(event)),
    JSON.stringify({ events: [LINE, LINE].map(event) }, null, 4),
    JSON.stringify({
      status: 'success',
      data: {
        resultType: 'streams',
        result: [
          {
            stream: {},
            values: [
              ['1', LINE],
              ['2', LINE],
            ],
          },
        ],
      },
    }),
    JSON.stringify([{ textPayload: LINE }, { textPayload: LINE }], null, 2),
  ]
  const reports = []
  for (const document of documents) reports.push(await replayLog(document, ...LIMIT))
  expect(reports.map(({ lines, requests, unreadable }) => [lines, requests, unreadable.lines])).toEqual(
    documents.map(() => [2, 2, 0]),
  )
})

test('the collector of OpenTelemetry writes many records and spans in a line', async () => {
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const record = (client: string) => ({
    ...{ timeUnixNano: `${START_MS}000000`, startTimeUnixNano: `${START_MS}000000`, kind: 2 },
    attributes: [attribute('client.address', client), attribute('url.path', '/users')],
  })
  const records = ['198.51.100.1', '198.51.100.2'].map(record)
  const resource = { attributes: [attribute('service.name', 'a')] }
  const logs = { resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'a' }, logRecords: records }] }] }
  const spans = { resourceSpans: [{ resource, scopeSpans: [{ scope: {}, spans: records }] }] }
  for (const document of [logs, spans]) {
    const report = await replayLog(`${JSON.stringify(document)}\n`.repeat(2), ...LIMIT)
    expect(report).toMatchObject({ lines: 4, requests: 4, clients: 2, unreadable: { lines: 0 } })
  }
})

test('the export of CloudWatch has a time before each line', async () => {
  const line = `2026-11-28T10:00:09.123Z ${LINE}\n`
  expect(await replayLog(line.repeat(3), ...LIMIT)).toMatchObject({ requests: 3, clients: 1 })
})

describe('a prefix inside a field is removed', () => {
  const wrap = (text: string) => `${JSON.stringify({ '@timestamp': OUTER_TIME, message: text })}\n`
  const syslog = 'Nov 28 10:00:09 web1 nginx[7]: '

  test.each([
    ['of syslog', syslog, LINE],
    ['of CRI', '2026-11-28T10:00:09.123456789Z stdout F ', LINE],
    ['before JSON', syslog, JSON.stringify(INNER)],
    ['of Docker in that of Kubernetes', '[pod/web-1/nginx] 2026-11-28T10:00:09.123456789Z ', LINE],
  ])('%s', async (_, prefix, text) => {
    const report = await replayLog(wrap(prefix + text).repeat(3), ...LIMIT)
    expect(report).toMatchObject({ requests: 3, clients: 1, unreadable: { lines: 0 } })
    expect(report.firstRequest).toMatchObject({
      client: { value: '198.51.100.7' },
      path: { value: '/users' },
    })
  })

  test('and columns are learned behind it', async () => {
    const main = LINE.replace('198.51.100.7', '10.0.3.4')
    const log = ['198.51.100.1', '198.51.100.2'].map((client) => wrap(`${syslog}${main} "-" "x" "${client}"`))
    expect(await replayLog(log.join(''), ...LIMIT)).toMatchObject({ clients: 2, forwarded: { requests: 2 } })
  })

  test('with --format', async () => {
    const log = wrap(`${syslog}10:00 GET /a 198.51.100.7 2026-11-28T10:00:00Z`).repeat(3)
    const format = ['--format', '10:00 $request_method $request_uri $remote_addr $time_iso8601']
    expect(await replayLog(log, ...LIMIT, ...format)).toMatchObject({ requests: 3, clients: 1 })
  })

  test('but only if most lines have it', async () => {
    const log = wrap(LINE).repeat(3) + wrap(syslog + LINE)
    expect(await replayLog(log, ...LIMIT)).toMatchObject({ requests: 3, unreadable: { lines: 1 } })
  })
})

test('lines that `aws logs tail` prints with a short time', async () => {
  const log = `2026-11-28T10:00:09 ${LINE}\n`.repeat(3)
  expect(await replayLog(log, ...LIMIT)).toMatchObject({ requests: 3, clients: 1, timeZone: null })
})

test('--key field:NAME is a field around the line, or in it', async () => {
  const pod = (name: string) => `${JSON.stringify({ log: LINE, pod: { name } })}\n`
  const { limits } = await replayLog(pod('a').repeat(3) + pod('b'), ...LIMIT, '--key', 'field:pod.name')
  expect(limits[0]?.mostDenied).toEqual([{ client: 'a', requests: 3, denied: 1 }])
})

test('unknown names are an error that shows those of the first line', async () => {
  const lines =
    `${JSON.stringify({ at: START_MS, peer: { addr: '192.0.2.1' }, m: 'GET', 'p\u001b': '/' })}\n`.repeat(2)
  write('unknown.log', lines)
  write(
    'route.log',
    lines
      .replace(/"at"/g, '"time"')
      .replace(/"addr"/g, '"ip"')
      .replace(/"peer"/g, '"client"'),
  )
  expect(await failureOf('replay', 'unknown.log', ...LIMIT)).toEqual([
    1,
    'unknown.log is not an access log: none of its first 2 lines is in the common or combined format, or JSON with a time and an IP address. The fields of its first line are: at, peer.addr, m, p\\u001b. Name them with --fields, such as --fields client=…,time=…',
  ])
  const route = ['replay', 'route.log', ...LIMIT]
  expect(await failureOf(...route, '--only', 'GET /')).toEqual([
    1,
    'route.log: no line has a method or a path, which --only and --key path need. The fields of its first line are: time, client.ip, m, p\\u001b. Name them with --fields, such as --fields method=…,path=…',
  ])
  expect(await failureOf(...route, '--key', 'path')).toEqual([
    1,
    expect.stringContaining('no line has a path, which'),
  ])
  expect(
    await replayLog(
      lines,
      ...LIMIT,
      '--only',
      'GET /',
      '--fields',
      'client=peer.addr,time=at,method=m,path=p\u001b',
    ),
  ).toMatchObject({
    requests: 2,
  })
})

test('lines of 4 MB in lines', () => {
  const long = LINE.replace('/users', `/users?${'x"'.repeat(300_000)}`)
  const wrapped = JSON.stringify({ message: JSON.stringify({ log: long.replaceAll('"', '\\"') }) })
  expect(readLines([wrapped.slice(0, -2), JSON.stringify({ MESSAGE: Array(500_000).fill(65) })])).toEqual([
    'unreadable',
    'unreadable',
  ])
})

test('a log without a single request is none if lines of it cannot be read', async () => {
  write('header.log', '#Fields: date time c-ip\n2026-11-28 10:00:00\n')
  write('responses.log', `${JSON.stringify({ time: START_MS, res: { statusCode: 200 }, who: 'x' })}\n`)
  expect(await failureOf('replay', 'header.log', ...LIMIT)).toEqual([
    1,
    expect.stringContaining('header.log is not an access log: none of its first 2 lines is in the common'),
  ])
  expect(await failureOf('replay', 'responses.log', ...LIMIT)).toEqual([
    1,
    expect.stringContaining(
      'The fields of its first line are: time, res.statusCode, who. Name them with --fields',
    ),
  ])
})
