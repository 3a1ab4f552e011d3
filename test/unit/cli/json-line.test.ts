import { readJson as read } from './json-reader.js'

const TIME_MS = Date.UTC(2026, 10, 24, 3, 0, 1, 500)
const WHOLE = { timeMs: TIME_MS, address: '192.0.2.7', user: 'ada', method: 'POST', path: '/login' }

test.each([
  [
    'nginx',
    {
      time_iso8601: '2026-11-24T03:00:01.5+00:00',
      remote_addr: '192.0.2.7',
      remote_user: 'ada',
      request: 'POST /login?x=1 HTTP/1.1',
    },
  ],
  [
    'Caddy',
    {
      ts: TIME_MS / 1000,
      user_id: 'ada',
      request: { remote_ip: '192.0.2.7', method: 'POST', uri: '/login?x=1' },
    },
  ],
  [
    'Traefik',
    {
      time: '2026-11-24T03:00:01.500Z',
      ClientHost: '192.0.2.7',
      ClientUsername: 'ada',
      RequestMethod: 'POST',
      RequestPath: '/login',
    },
  ],
  [
    'pino-http',
    {
      time: TIME_MS,
      user: 'ada',
      req: { method: 'POST', url: '/login', remoteAddress: '192.0.2.7' },
      res: { statusCode: 200 },
    },
  ],
  [
    'Fastify',
    {
      time: TIME_MS,
      user: 'ada',
      msg: 'incoming request',
      req: { method: 'POST', url: '/login', remoteAddress: '192.0.2.7' },
    },
  ],
  [
    'nginx with names that it leaves empty, whole seconds, and a rewritten path',
    {
      time_iso8601: '2026-11-24T03:00:01+00:00',
      msec: '1795489201.500',
      ip: '',
      client_ip: '-',
      remote_addr: '192.0.2.7',
      user: '-',
      user_id: 'ada',
      uri: '/index.php',
      request_uri: '/login?x=1',
      method: 'POST',
    },
  ],
  [
    'a list of addresses, of which the nearest proxy wrote the last',
    { time: TIME_MS, ip: '198.51.100.1, 192.0.2.7', user: 'ada', method: 'POST', url: '/login' },
  ],
  [
    'a duration that is called time',
    { time: 12, timestamp: TIME_MS, ip: '192.0.2.7', user: 'ada', method: 'POST', url: '/login' },
  ],
  [
    'a text of seconds',
    { msec: '1795489201.500', ip: '192.0.2.7', user: 'ada', method: 'POST', url: '/login' },
  ],
])('%s', (_what, fields) => {
  expect(read(JSON.stringify(fields))).toEqual(WHOLE)
})

test.each([
  ['2026-11-24T03:00:01.5', TIME_MS],
  ['2026-11-24 03:00:01.500', TIME_MS],
  ['2026-11-24T04:00:01.5+0100', TIME_MS],
  ['2026-11-24T03:00:01,5', TIME_MS],
  ['2026-11-24 03:00:01,500', TIME_MS],
  ['2026-11-24 04:00:01.5+01', TIME_MS],
  ['2026-11-23T22:00:01.5-05', TIME_MS],
  ['2026-11-24 03:00:01.5 UTC', TIME_MS],
  ['2026/11/24 03:00:01.5', TIME_MS],
  ['2026-11-24T17:00:01.5+14:00', TIME_MS],
  ['2026-11-24T03:00:01+15:00', undefined],
  ['2026-11-24 03:00:01-23', undefined],
  ['2026-02-31T03:00:01Z', undefined],
  ['31/Feb/2026:03:00:01 +0000', undefined],
  ['24/Nov/2026:03:00:01 +9999', undefined],
  ['01/Jan/1970:00:00:01 +0100', undefined],
  ['1969-12-31T23:59:59Z', undefined],
  [1795489201500000, TIME_MS],
  ['1795489201500000000', TIME_MS],
  [12, undefined],
  [1e21, undefined],
  ['24/Nov/2026:03:00:01 +0000', TIME_MS - 500],
  ['24/Nov/2026:03:00:01.500 +0000', TIME_MS],
  ['24/Nov/2026:03:00:01,500000 +00:00', TIME_MS],
  ['24/Nov/2026:04:00:01.5 +0100', TIME_MS],
  ['24/Nov/2026:03:00:01.5', TIME_MS],
  ['[24/Nov/2026:03:00:01.5 +0000]', TIME_MS],
  ['[2026-11-24T03:00:01.5Z]', TIME_MS],
  ['[2026-11-24T03:00:01,500000Z]', TIME_MS],
  ['2026-11-24T03:00:01.500000+00:00', TIME_MS],
  ['2026-11-24T03:00:01.500123Z', TIME_MS + 0.123],
  ['Tue, 24 Nov 2026 03:00:01 GMT', TIME_MS - 500],
  ['24-Nov-2026 03:00:01.500', TIME_MS],
  ['Tue, 24 Nov 2026 25:00:01 GMT', undefined],
  ['24/nov/2026:03:00:01.5', undefined],
  ['2026-11-24T03:61:01Z', undefined],
  ['[]', undefined],
  ['1795489201500', TIME_MS],
  [1795489201.5, TIME_MS],
])('the time %j', (time, timeMs) => {
  const request = read(JSON.stringify({ time, ip: '192.0.2.7' }))
  if (timeMs === undefined) expect(request).toBe('unreadable')
  else expect(request).toMatchObject({ timeMs })
})

test('what an application logs while it handles a request is none', () => {
  const req = { method: 'POST', url: '/login', remoteAddress: '192.0.2.7' }
  expect(read(JSON.stringify({ time: TIME_MS, req, msg: 'looking up ada' }))).toBe('other')
  expect(read(JSON.stringify({ time: TIME_MS, req: { id: 1 }, msg: 'looking up ada' }))).toBe('other')
  expect(read(JSON.stringify({ time: TIME_MS, res: { statusCode: 200 }, msg: 'request completed' }))).toBe(
    'other',
  )
})

test('fields may be missing but time and address', () => {
  const request = { timeMs: TIME_MS, address: '192.0.2.7', user: undefined, method: '', path: '' }
  expect(read(JSON.stringify({ time: TIME_MS, ip: '192.0.2.7' }))).toEqual(request)
  expect(read(JSON.stringify({ time: TIME_MS, ip: '192.0.2.7', remote_user: '-' }))).toEqual(request)
})

test('UTF-8, which is read as Latin-1, is decoded', () => {
  expect(read({ time: TIME_MS, ip: '192.0.2.7', user: 'josé' })).toMatchObject({ user: 'josé' })
})

test.each([
  '{',
  '{}',
  '{"time":"yesterday","ip":"192.0.2.7"}',
  '{"time":1795489201500}',
  '{"time":-1,"ip":"192.0.2.7"}',
  '{"time":1e300,"ip":"192.0.2.7"}',
  '{"time":1795489201500,"ip":["192.0.2.7"]}',
  '{"time":1795489201500,"__proto__":{"ip":"192.0.2.7"}',
])('unreadable: %s', (line) => {
  expect(read(line)).toBe('unreadable')
})

test('a request of nginx that is none', () => {
  expect(read(JSON.stringify({ time: TIME_MS, ip: '192.0.2.7', request: '-' }))).toBe('other')
})
