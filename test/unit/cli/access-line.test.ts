import { AccessLineReader } from '../../../src/cli/log/access-line.js'
import { emptyRequest } from '../../../src/cli/log/request-line.js'

const TIME = '10/Oct/2000:13:55:36 -0700'
const TIME_MS = Date.UTC(2000, 9, 10, 20, 55, 36)

function read(line: string) {
  const request = emptyRequest()
  const kind = new AccessLineReader().read(line, request)
  return kind === 'request' ? request : kind
}

test('the common format', () => {
  expect(read(`192.0.2.7 - ada [${TIME}] "GET /users?page=2 HTTP/1.1" 200 2326`)).toEqual({
    timeMs: TIME_MS,
    address: '192.0.2.7',
    user: 'ada',
    method: 'GET',
    path: '/users',
    fields: undefined,
  })
})

test.each([
  ['the combined format', `192.0.2.7 - - [${TIME}] "GET / HTTP/1.1" 200 1 "http://a/" "curl/8 \\"x\\""`],
  ['a line that ends after the request', `192.0.2.7 - - [${TIME}] "GET / HTTP/1.1"`],
  ['a virtual host before the address', `a.example:443 192.0.2.7 - - [${TIME}] "GET / HTTP/1.1" 200 1`],
  ['a virtual host without a dot', `localhost:8080 192.0.2.7 - - [${TIME}] "GET / HTTP/1.1" 200 1`],
  ['a user that is logged as empty', `192.0.2.7 - "" [${TIME}] "GET / HTTP/1.1" 200 1`],
  ['a request of HTTP/0.9', `192.0.2.7 - - [${TIME}] "GET /"`],
  ['a request in absolute form', `192.0.2.7 - - [${TIME}] "GET http://a.example HTTP/1.1" 200 1`],
])('%s', (_what, line) => {
  expect(read(line)).toMatchObject({
    address: '192.0.2.7',
    user: undefined,
    timeMs: TIME_MS,
    method: 'GET',
    path: '/',
  })
})

test.each(['2001:db8::1', '::ffff:192.0.2.7', 'host.example', 'unix:', '-'])(
  'an address is read as it is: %s',
  (address) => {
    expect(read(`${address} - - [${TIME}] "GET / HTTP/1.1" 200 1`)).toMatchObject({ address })
  },
)

test('a client by its name behind a virtual host', () => {
  for (const host of ['a.example:80', 'localhost:80']) {
    const line = `${host} h7.example.net - - [${TIME}] "GET / HTTP/1.1" 200 1`
    expect(read(line)).toMatchObject({ address: 'h7.example.net' })
  }
})

test.each([
  ['with spaces', 'ada lovelace', 'ada lovelace'],
  [
    'with a time of its own',
    `x [${TIME.replace('2000', '1999')}] y`,
    `x [${TIME.replace('2000', '1999')}] y`,
  ],
  ['with a quote that nginx escaped', '\\x22] \\x22', '"] "'],
  ['with a quote that Apache escaped', '] \\"GET', '] "GET'],
  ['in UTF-8 that nginx escaped', 'jos\\xC3\\xA9', 'josé'],
  ['in UTF-8', Buffer.from('josé').toString('latin1'), 'josé'],
])('a user name %s', (_what, logged, user) => {
  expect(read(`192.0.2.7 - ${logged} [${TIME}] "GET / HTTP/1.1" 200 1`)).toMatchObject({
    user,
    address: '192.0.2.7',
    timeMs: TIME_MS,
  })
})

test('a path with an escaped quote does not end the request', () => {
  const line = `192.0.2.7 - - [${TIME}] "GET /a\\"b\\\\ HTTP/1.1" 200 1`
  expect(read(line)).toMatchObject({ path: '/a"b\\' })
})

test.each(['-', '', '\\x16\\x03\\x01', 'GET', '192.0.2.1 /'])('%j is not a request', (text) => {
  expect(read(`192.0.2.7 - - [${TIME}] "${text}" 400 0`)).toBe('other')
})

test.each([
  'garbage',
  ' ',
  `[${TIME}] "GET / HTTP/1.1" 200 1`,
  ` - - [${TIME}] "GET / HTTP/1.1" 200 1`,
  `192.0.2.7 - - [${TIME}] "GET / HTTP/1.1`,
  `192.0.2.7 - - [${TIME}] "GET / HTTP/1.1\\"`,
  `192.0.2.7 - - [${TIME} "GET / HTTP/1.1" 200 1`,
  `192.0.2.7 - - ${TIME}] "GET / HTTP/1.1" 200 1`,
  ...[
    ...['1/Oct/2000:13:55:36 -0700', '10/Okt/2000:13:55:36 -0700', '10/anF/2000:13:55:36 -0700'],
    ...['10/Oct/2000:24:55:36 -0700', '00/Oct/2000:13:55:36 -0700', '10/Oct/2000:13:55:xx -0700'],
    ...['10/Oct/2000:13:55:36  0700', '10/Oct/2000:13:55:36 -1500', '2000-10-10T13:55'.slice(0, 12)],
  ].map((time) => `192.0.2.7 - - [${time}] "GET / HTTP/1.1" 200 1`),
])('unreadable: %j', (line) => {
  expect(read(line)).toBe('unreadable')
})

test.each([
  ['10/Oct/2000:13:55:36 +0000', Date.UTC(2000, 9, 10, 13, 55, 36)],
  ['10/Oct/2000:13:55:36 +0530', Date.UTC(2000, 9, 10, 8, 25, 36)],
  ['31/Dec/2016:23:59:60 +0000', Date.UTC(2017, 0, 1)],
])('the time %s', (time, timeMs) => {
  expect(read(`192.0.2.7 - - [${time}] "GET / HTTP/1.1" 200 1`)).toMatchObject({ timeMs })
})

test('a line of 1 MB is read in no time', () => {
  const agent = '\\"'.repeat(500_000)
  const line = `192.0.2.7 - - [${TIME}] "GET /${agent} HTTP/1.1" 200 1`
  expect(read(line)).toMatchObject({ path: `/${'"'.repeat(500_000)}` })
  expect(read('] "'.repeat(350_000))).toBe('unreadable')
})
