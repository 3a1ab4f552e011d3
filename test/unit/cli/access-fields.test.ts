import { AccessLineReader } from '../../../src/cli/log/access-line.js'
import { emptyRequest } from '../../../src/cli/log/request-line.js'

const TIME = '28/Nov/2026:10:00:00 +0000'
const TIME_MS = Date.UTC(2026, 10, 28, 10)
const REQUEST = '"GET /a?b HTTP/1.1" 200 12'

/** Reads the first line of a log as one with all of them. */
function read(...lines: readonly string[]) {
  const [line = ''] = lines
  const reader = new AccessLineReader()
  reader.learn(lines)
  const request = emptyRequest()
  const kind = reader.read(line, request)
  if (kind !== 'request') return kind
  const { timeMs, fields, ...rest } = request
  return { ...rest, at: new Date(timeMs).toISOString(), sources: reader.sources(line) }
}

const WHOLE = { at: '2026-11-28T10:00:00.000Z', method: 'GET', path: '/a' }
const CLIENT = { ...WHOLE, address: '198.51.100.7', forwarded: undefined, user: undefined }
const BEHIND = { ...WHOLE, address: '10.0.3.4', forwarded: '198.51.100.7', user: undefined }

describe('a forwarded list', () => {
  const AGENT = '"https://a.example/" "curl/8 (x)"'
  test.each([
    ['nginx main', `10.0.3.4 - - [${TIME}] ${REQUEST} "-" "curl/8" "198.51.100.7"`],
    [
      'nginx main, before other fields',
      `10.0.3.4 - - [${TIME}] ${REQUEST} ${AGENT} "198.51.100.7" "0.1" - 5`,
    ],
    ['Elastic Beanstalk', `10.0.3.4 (198.51.100.7) - - [${TIME}] ${REQUEST} ${AGENT}`],
    ['brackets', `10.0.3.4 [198.51.100.7] - - [${TIME}] ${REQUEST}`],
    ['quotes', `10.0.3.4 "198.51.100.7" - - [${TIME}] ${REQUEST}`],
    ['a second address', `10.0.3.4 198.51.100.7 - - [${TIME}] ${REQUEST}`],
    ['the list before the connection', `198.51.100.7 10.0.3.4 - - [${TIME}] ${REQUEST}`],
    ['the list in quotes before it', `"198.51.100.7" 10.0.3.4 - - [${TIME}] ${REQUEST}`],
    ['the list behind the identity', `10.0.3.4 - 198.51.100.7 - - [${TIME}] ${REQUEST}`],
    ['the list behind the request', `10.0.3.4 - - [${TIME}] "GET /a HTTP/1.1" 198.51.100.7 200 12 ${AGENT}`],
    ['the list at the end, without quotes', `10.0.3.4 - - [${TIME}] ${REQUEST} ${AGENT} 198.51.100.7`],
    ['the common format and the list', `10.0.3.4 - - [${TIME}] ${REQUEST} "198.51.100.7"`],
  ])('%s', (_what, line) => {
    expect(read(line)).toMatchObject(BEHIND)
  })

  test('of several addresses is one field, also in place of the connection', () => {
    const list = '192.0.2.1, 198.51.100.7,10.0.0.9'
    expect(read(`10.0.3.4 - - [${TIME}] ${REQUEST} "-" "x" "${list}"`)).toMatchObject({ forwarded: list })
    expect(read(`10.0.3.4 (${list}) - - [${TIME}] ${REQUEST}`)).toMatchObject({ forwarded: list })
    expect(read(`${list} - ada [${TIME}] ${REQUEST}`)).toMatchObject({
      address: '',
      forwarded: list,
      user: 'ada',
    })
    expect(read(`${list} 10.0.3.4 - - [${TIME}] ${REQUEST}`)).toMatchObject({
      address: '10.0.3.4',
      forwarded: list,
    })
  })

  test('that is not there', () => {
    expect(read(`10.0.3.4 (-) - - [${TIME}] ${REQUEST}`)).toMatchObject({
      address: '10.0.3.4',
      forwarded: undefined,
    })
    expect(read(`- 198.51.100.7 - - [${TIME}] ${REQUEST}`)).toMatchObject(CLIENT)
    const main = (forwarded: string) => `10.0.3.4 - - [${TIME}] ${REQUEST} "-" "x" "${forwarded}"`
    expect(read(main('-'), main('198.51.100.7'))).toMatchObject({ forwarded: '-' })
    expect(read(main('-'))).toMatchObject({ forwarded: undefined })
  })

  test('is not a referrer or an agent that looks like one', () => {
    const forged = `10.0.3.4 - - [${TIME}] ${REQUEST} "192.0.2.1" "198.51.100.7"`
    expect(read(...Array(20).fill(forged))).toMatchObject({ address: '10.0.3.4', forwarded: undefined })
    const main = (agent: string) => `10.0.3.4 - - [${TIME}] ${REQUEST} "-" "${agent}" "198.51.100.7"`
    expect(read(main('203.0.113.1'), main('203.0.113.1'))).toMatchObject(BEHIND)
  })

  test('is not the address of an upstream server, with its port', () => {
    const line = `203.0.113.1 - - [${TIME}] ${REQUEST} ${AGENT} [app] 198.51.100.7:8080 0.1`
    expect(read(line)).toMatchObject({ forwarded: undefined })
  })

  test('may be garbage in a few lines', () => {
    const main = (forwarded: string) => `10.0.3.4 - - [${TIME}] ${REQUEST} "-" "x" "${forwarded}"`
    const rest = Array(20).fill(main('198.51.100.7'))
    expect(read(main('x\\x22, 203.0.113.9'), ...rest)).toMatchObject({ forwarded: 'x\\x22, 203.0.113.9' })
    const balanced = (forwarded: string) => `10.0.3.4 (${forwarded}) - - [${TIME}] ${REQUEST}`
    const evil = 'x) - root [28/Nov/1999:10:00:00 +0000] y, 203.0.113.9'
    expect(read(balanced(evil))).toMatchObject({ address: '10.0.3.4', forwarded: evil, user: undefined })
  })
})

describe('other fields', () => {
  test.each([
    ['a port at the address', `198.51.100.7:5678 - - [${TIME}] ${REQUEST}`, '198.51.100.7:5678'],
    ['an address in quotes', `"198.51.100.7" - - [${TIME}] ${REQUEST}`, '198.51.100.7'],
    ['a port behind the address', `198.51.100.7 5678 - - [${TIME}] ${REQUEST}`, '198.51.100.7'],
    ['a request id', `198.51.100.7 7f3a-9c - - [${TIME}] ${REQUEST}`, '198.51.100.7'],
    ['a request id before the address', `7f3a-9c 198.51.100.7 - - [${TIME}] ${REQUEST}`, '198.51.100.7'],
    ['a field in brackets', `198.51.100.7 [7f 3a] - - [${TIME}] ${REQUEST}`, '198.51.100.7'],
    ['a field in quotes', `198.51.100.7 "shop.example" - - [${TIME}] ${REQUEST}`, '198.51.100.7'],
    ['a field in brackets before the time', `198.51.100.7 - - [7f3a] [${TIME}] ${REQUEST}`, '198.51.100.7'],
    [
      'a field in quotes before the time',
      `198.51.100.7 - - "shop.example" [${TIME}] ${REQUEST}`,
      '198.51.100.7',
    ],
    ['a field before the time', `198.51.100.7 - - 7f3a [${TIME}] ${REQUEST}`, '198.51.100.7'],
    ['dashes', `198.51.100.7 - - - [${TIME}] ${REQUEST}`, '198.51.100.7'],
    ['a field behind the time', `198.51.100.7 - - [${TIME}] 443 ${REQUEST}`, '198.51.100.7'],
    [
      'a quoted field behind the time',
      `198.51.100.7 - - [${TIME}] "shop.example" ${REQUEST}`,
      '198.51.100.7',
    ],
    ['no identity and no user', `198.51.100.7 [${TIME}] ${REQUEST}`, '198.51.100.7'],
    ['no user', `198.51.100.7 - [${TIME}] ${REQUEST}`, '198.51.100.7'],
    ['the time in front', `[${TIME}] 198.51.100.7 - - ${REQUEST}`, '198.51.100.7'],
  ])('%s', (_what, line, address) => {
    expect(read(line)).toMatchObject({ ...CLIENT, address })
  })

  test.each([
    ['before it', `198.51.100.7 7f3a - ada [${TIME}] ${REQUEST}`],
    ['behind it, in brackets', `198.51.100.7 - ada [7f3a] [${TIME}] ${REQUEST}`],
    ['behind it, in quotes', `198.51.100.7 - ada "7f3a" [${TIME}] ${REQUEST}`],
    ['around it', `198.51.100.7 [x] - "ada" [${TIME}] ${REQUEST}`],
    ['and the time in front', `[${TIME}] 198.51.100.7 - ada ${REQUEST}`],
  ])('leave the user: %s', (_what, line) => {
    expect(read(line)).toMatchObject({ ...CLIENT, user: 'ada' })
  })

  test('behind a user are no part of its name, if all lines have them', () => {
    const line = (user: string, ...more: string[]) =>
      `198.51.100.7 - ${[user, ...more].join(' ')} [${TIME}] ${REQUEST}`
    expect(read(line('ada', 'a', 'b'), line('-', 'c', 'd'))).toMatchObject({ user: 'ada' })
    expect(read(line('ada lovelace', 'a'), line('-', 'c'))).toMatchObject({ user: 'ada lovelace' })
    expect(read(line('ada lovelace'), line('-'))).toMatchObject({ user: 'ada lovelace' })
    expect(read(line('ada lovelace'), line('bob hope'))).toMatchObject({ user: 'ada lovelace' })
  })
})

test('a user may end in brackets or quotes', () => {
  const line = (user: string, more = '') => `198.51.100.7 - ${user}${more} [${TIME}] ${REQUEST}`
  const userIn = (...lines: readonly string[]) => {
    const found = read(...lines)
    return typeof found === 'string' ? found : found.user
  }
  expect([
    userIn(line('ada [x]'), line('-')),
    userIn(line('ada "x y"'), line('""')),
    userIn(line('ada [x]'), line('bob')),
    userIn(line('ada [x]', ' [r 1]'), line('-', ' [r2]')),
    userIn(line('ada [x]', ' "r1" 7'), line('-', ' "-" 8')),
    userIn(line('ada [x]', ' [r1]'), line('bob', ' [r2]')),
    userIn(line('-', ' [r1]'), line('bob', ' [r2]')),
    userIn(...[line('ada [x]'), line('-')].map((each) => `shop.example ${each}`)),
    userIn(...['ada [x]', '-'].map((user) => `10.0.3.4 - 198.51.100.7 - ${user} [${TIME}] ${REQUEST}`)),
    ...['- ada', '- -'].map((user) => userIn(`10.0.3.4 (-) ${user} [${TIME}] ${REQUEST}`)),
    userIn(`198.51.100.7 "-" - ada [${TIME}] ${REQUEST}`),
  ]).toEqual([
    ...['ada [x]', 'ada "x y"', 'ada [x]', 'ada [x]', 'ada [x]', 'ada [x]', undefined],
    ...['ada [x]', 'ada [x]', 'ada', undefined, 'ada'],
  ])
})

test('fields behind a time and a client are no user, but for that behind an identity', () => {
  const request = '"GET https://a.example:443/a HTTP/1.1"'
  const balancer = (client: string) =>
    `2026-11-28T10:00:00Z my-lb ${client} 10.0.0.1:80 0.1 0.2 0.1 200 200 0 29 ${request} "curl/8" - -`
  expect(read(balancer('198.51.100.7:2817'))).toMatchObject({ ...CLIENT, address: '198.51.100.7:2817' })
  expect(read(balancer('[2001:db8::1]:2817'))).toMatchObject({ ...CLIENT, address: '[2001:db8::1]:2817' })
  expect(read(`[${TIME}] 198.51.100.7 79a5 3E57 REST.GET.OBJECT - ${request} 200`)).toMatchObject(CLIENT)
})

test('a client may stand only in a forwarded list behind the request', () => {
  const envoy = (list: string) =>
    `[2026-11-28T10:00:00.000Z] "GET /a HTTP/1.1" 200 - 0 51 20 19 "${list}" "curl/8" "7f" "a.example" "10.4.0.1:80"`
  const listed = { ...WHOLE, address: '', user: undefined }
  expect(read(envoy('192.0.2.1,198.51.100.7'), envoy('-'))).toMatchObject({
    ...{ ...listed, forwarded: '192.0.2.1,198.51.100.7' },
    sources: { address: undefined, forwarded: 'field 9', time: 'field 1' },
  })
  expect(read(envoy('-'), envoy('198.51.100.7'))).toMatchObject({ ...listed, forwarded: '-' })
  expect(read(envoy('-'))).toMatchObject({ ...listed, forwarded: '-' })
  expect(read(envoy('10.0.3.4'))).toMatchObject({ ...listed, forwarded: '10.0.3.4' })
})

describe('a time', () => {
  test.each([
    ['[28/Nov/2026:10:00:00.123 +0000]', 123],
    ['[28/Nov/2026:10:00:00,123456 +0000]', 123],
    ['[28/Nov/2026:10:00:00 +00:00]', 0],
    ['[28/Nov/2026:12:00:00 +0200]', 0],
    ['[28/Nov/2026:10:00:00]', 0],
    ['[28/Nov/2026 10:00:00]', 0],
    ['[2026-11-28T10:00:00Z]', 0],
    ['[2026-11-28T10:00:00,123456Z]', 123],
    ['[2026-11-28T12:00:00.5+02:00]', 500],
    ['[2026-11-28 10:00:00.250]', 250],
    ['[1795860000.123]', 123],
    ['28/Nov/2026:10:00:00 +0000', 0],
    ['2026-11-28T10:00:00.123456Z', 123],
    ['2026-11-28 10:00:00,123', 123],
    ['2026-11-28 12:00:00 +0200', 0],
    ['1795860000.123', 123],
  ])('%s', (time, ms) => {
    const expected = { ...CLIENT, at: new Date(TIME_MS + ms).toISOString() }
    expect(read(`198.51.100.7 - - ${time} ${REQUEST} "-" "x"`)).toMatchObject(expected)
    expect(read(`${time} 198.51.100.7 - - ${REQUEST} "-" "x"`)).toMatchObject(expected)
  })

  test.each([
    '[28/Nov/2026:10:00:60x +0000]',
    '[2026-13-28T10:00:00Z]',
    '[28/Nov/2026:10:00:00 +1500]',
    '[yesterday]',
    '1795860000',
    '28/Nov/2026',
    '28/Nov/2026:10:00:00 +9',
  ])('is not %s', (time) => {
    expect(read(`198.51.100.7 - - ${time} ${REQUEST}`)).toBe('unreadable')
  })

  test('is the one before the request, whatever a client writes into its name', () => {
    const forged = `x [28/Nov/1999:10:00:00 +0000] y 28/Nov/1999:10:00:00 +0000`
    expect(read(`198.51.100.7 - ${forged} [${TIME}] ${REQUEST}`)).toMatchObject({ ...CLIENT, user: forged })
    const spaced = `[${TIME}] 198.51.100.7 - ${forged} ${REQUEST}`
    expect(read(spaced)).toMatchObject({ ...CLIENT, user: forged })
    expect(read(`10.0.3.4 (198.51.100.7) - ${forged} [${TIME}] ${REQUEST}`)).toMatchObject({
      ...BEHIND,
      user: forged,
    })
  })

  test('is not one in a forwarded list or in an agent', () => {
    const list = `"[28/Nov/1999:10:00:00 +0000] \\"GET /x HTTP/1.1\\""`
    expect(read(`${list} 198.51.100.7 - - [${TIME}] ${REQUEST}`)).toMatchObject({
      ...WHOLE,
      address: '198.51.100.7',
    })
    expect(read(`198.51.100.7 - - "GET /a HTTP/1.1" 200 1 "[${TIME}]" "GET /x HTTP/1.1"`)).toBe('unreadable')
  })
})

describe('a request', () => {
  test('that is none is not looked for in other fields', () => {
    const line = (request: string) => `198.51.100.7 - - [${TIME}] "${request}" 400 0 "-" "GET /x HTTP/1.1"`
    expect(read(line('-'), line('GET / HTTP/1.1'))).toBe('other')
    expect(read(line('\\x16\\x03'), line('GET / HTTP/1.1'))).toBe('other')
  })

  test('behind other fields is that in other lines', () => {
    const line = (host: string, request: string) => `198.51.100.7 - - [${TIME}] "${host}" "${request}" 200 1`
    expect(
      read(
        line('GET /x HTTP/1.1', 'GET /a HTTP/1.1'),
        line('a.example', 'GET / HTTP/1.1'),
        line('-', 'GET /'),
      ),
    ).toMatchObject({ path: '/a' })
    expect(read(line('GET /x HTTP/1.1', '-'), line('a.example', 'GET / HTTP/1.1'), line('-', 'GET /'))).toBe(
      'other',
    )
  })
})

test('the fields that values are from have numbers', () => {
  const main = `10.0.3.4 - - [${TIME}] ${REQUEST} "-" "curl/8" "198.51.100.7"`
  expect(read(main)).toMatchObject({
    sources: {
      address: 'field 1',
      forwarded: 'field 10',
      user: 'field 3',
      time: 'field 4',
      method: 'field 5',
    },
  })
  expect(read(`10.0.3.4 (198.51.100.7) - ada [${TIME}] ${REQUEST}`)).toMatchObject({
    sources: { address: 'field 1', forwarded: 'field 2', user: 'field 4', time: 'field 5', path: 'field 6' },
  })
  expect(read(`2026-11-28 10:00:00 198.51.100.7 ${REQUEST}`)).toMatchObject({
    sources: { address: 'field 3', forwarded: undefined, user: undefined, time: 'field 1', path: 'field 4' },
  })
})

test('lines of 4 MB that a client has written are read in no time, or not at all', () => {
  const filler = 4_000_000
  const lines = [
    `198.51.100.7 - ${'x '.repeat(filler / 2)} [${TIME}] ${REQUEST}`,
    `10.0.3.4 (${'1.2.3.4, '.repeat(filler / 9)}198.51.100.7) - - [${TIME}] ${REQUEST}`,
    `10.0.3.4 (${') '.repeat(filler / 2)}) - - [${TIME}] ${REQUEST}`,
    `10.0.3.4 - - [${TIME}] "GET / HTTP/1.1" 200 1 "-" "${'\\"'.repeat(filler / 2)}" "198.51.100.7"`,
    '"'.repeat(filler),
    '[ '.repeat(filler / 2),
    '( '.repeat(filler / 2),
    ', '.repeat(filler / 2),
    `[${TIME}] `.repeat(filler / 29),
    `"] "`.repeat(filler / 4),
  ]
  const kinds = lines.map((line) => {
    const found = read(line, `10.0.3.4 - - [${TIME}] ${REQUEST} "-" "x" "198.51.100.7"`)
    return typeof found === 'string' ? found : found.path
  })
  expect(kinds).toEqual(['/a', '/a', '/a', '/', ...Array(6).fill('unreadable')])
})
