import { UsageError } from '../../../src/cli/failures.js'
import { parseTemplate } from '../../../src/cli/log/format/template.js'
import { TemplateReader } from '../../../src/cli/log/format/template-reader.js'
import { emptyRequest } from '../../../src/cli/log/request-line.js'

const AT = '2026-11-28T10:00:00.000Z'
const TIME = '28/Nov/2026:10:00:00 +0000'
const COMBINED = `198.51.100.7 - ada [${TIME}] "POST /a?b=c HTTP/1.1" 200 12 "https://a.example/" "curl/8 \\"x\\""`

function read(format: string, line: string) {
  const reader = new TemplateReader(parseTemplate(format))
  const request = emptyRequest()
  const kind = reader.read(line, request)
  if (kind !== 'request') return kind
  const { timeMs, fields, ...rest } = request
  return { ...rest, at: new Date(timeMs).toISOString() }
}

const WHOLE = { at: AT, address: '198.51.100.7', user: 'ada', method: 'POST', path: '/a' }

describe('a format', () => {
  const NGINX = '$remote_addr - $remote_user [$time_local] "$request" $status'
  const APACHE = '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i"'
  test.each([
    ['common', COMBINED],
    ['combined', COMBINED],
    ['main', `${COMBINED} "-"`],
    ['vhost_combined', `a.example:443 ${COMBINED}`],
    [NGINX, COMBINED],
    [NGINX.replace(/\$(\w+)/g, (_, name) => `\${${name}}`), COMBINED],
    [`log_format main '$remote_addr - $remote_user [$time_local] '\n  '"$request" $status';`, COMBINED],
    [`log_format main escape=default '${NGINX}';`, COMBINED],
    [APACHE, COMBINED],
    [APACHE.replaceAll('"', '\\"'), COMBINED],
    [`LogFormat "${APACHE.replaceAll('"', '\\"')}" combined`, COMBINED],
    ['%a %l %u %t "%r" %400,501{Referer}i', COMBINED],
    ['%t %h %u "%m %U%q %H"', `[${TIME}] 198.51.100.7 ada "POST /a?b=c HTTP/1.1"`],
    ['%h %u %{%Y-%m-%dT%H:%M:%S%z}t %m %U%q', `198.51.100.7 ada 2026-11-28T10:00:00+0000 POST /a?b=c`],
    [
      '%h %u [%{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t] %m %U',
      `198.51.100.7 ada [28/Nov/2026:10:00:00.000 +0000] POST /a`,
    ],
    ['%h %u %{sec}t %m %U', `198.51.100.7 ada 1795860000 POST /a`],
    [
      '$time_iso8601 $remote_addr $remote_user $request_method $request_uri',
      `${AT} 198.51.100.7 ada POST /a?b`,
    ],
    [
      '$msec|$remote_addr|$remote_user|$request_method|$request_uri|',
      `1795860000.000|198.51.100.7|ada|POST|/a|`,
    ],
    ['$remote_user@$remote_addr $time_local $request', `ada@198.51.100.7 ${TIME} POST /a?b HTTP/1.1`],
    [
      '$remote_addr $remote_user $time_local $request $status',
      `198.51.100.7 ada ${TIME} POST /a?b HTTP/1.1 200`,
    ],
    [
      '$remote_addr $remote_user $time_iso8601 $request_method $scheme://$host$request_uri',
      `198.51.100.7 ada ${AT} POST https://a.example/a?b`,
    ],
    [
      '{"t":"$time_iso8601","a":"$remote_addr","u":"$remote_user","r":"$request"}',
      `{"t":"${AT}","a":"198.51.100.7","u":"ada","r":"POST /a HTTP/1.1"}`,
    ],
    ['100%% %h %u %t "%r"', `100% 198.51.100.7 ada [${TIME}] "POST /a HTTP/1.1"`],
  ])('%s', (format, line) => {
    expect(read(format, line)).toMatchObject(WHOLE)
  })

  test.each([
    ['main', `10.0.3.4 - ada [${TIME}] "POST /a HTTP/1.1" 200 1 "-" "x" "198.51.100.7, 10.0.0.9"`],
    [
      '%h %l %u %t "%r" "%{X-Forwarded-For}i"',
      `10.0.3.4 - ada [${TIME}] "POST /a HTTP/1.1" "198.51.100.7, 10.0.0.9"`,
    ],
    ['%{X-Forwarded-For}i %h %u %t "%r"', `198.51.100.7, 10.0.0.9 10.0.3.4 ada [${TIME}] "POST /a HTTP/1.1"`],
    [
      '%h (%{x-forwarded-for}i) %u %t "%r"',
      `10.0.3.4 (198.51.100.7, 10.0.0.9) ada [${TIME}] "POST /a HTTP/1.1"`,
    ],
    [
      '%{c}a %{X-Forwarded-For}i %u %t "%r"',
      `10.0.3.4 198.51.100.7, 10.0.0.9 ada [${TIME}] "POST /a HTTP/1.1"`,
    ],
    [
      '$http_x_forwarded_for - $remote_addr $remote_user [$time_local] "$request"',
      `198.51.100.7, 10.0.0.9 - 10.0.3.4 ada [${TIME}] "POST /a HTTP/1.1"`,
    ],
  ])('with a forwarded list: %s', (format, line) => {
    const forwarded = '198.51.100.7, 10.0.0.9'
    expect(read(format, line)).toMatchObject({ ...WHOLE, address: '10.0.3.4', forwarded })
  })

  test('of several values for one thing reads the most precise', () => {
    const format =
      '$realip_remote_addr $remote_addr $http_x_real_ip $http_x_forwarded_for $time_local $msec "$uri" $request_uri'
    expect(
      read(format, `10.0.0.1 10.0.0.2 1.1.1.1 2.2.2.2 ${TIME} 1795860000.125 "/index.php" /a`),
    ).toMatchObject({
      address: '10.0.0.2',
      forwarded: '2.2.2.2',
      at: '2026-11-28T10:00:00.125Z',
      path: '/a',
    })
  })

  test('without a method, a path or a user has none', () => {
    expect(read('$remote_addr $time_iso8601', `198.51.100.7 ${AT}`)).toMatchObject({
      method: '',
      path: '',
      user: undefined,
    })
    expect(read('$remote_addr $remote_user $time_iso8601', `198.51.100.7 - ${AT}`)).toMatchObject({
      user: undefined,
    })
  })
})

describe('a line', () => {
  test('whose client writes what follows is read as the server wrote it', () => {
    const user = `x [y] [28/Nov/1999:10:00:00 +0000] - z`
    const line = COMBINED.replace('ada', user)
    for (const format of ['combined', '$remote_addr - $remote_user [$time_local] "$request"'])
      expect(read(format, line)).toMatchObject({ ...WHOLE, user })
    const list = 'evil, 1.1.1 - root [x, 198.51.100.7'
    expect(
      read('%{X-Forwarded-For}i %l %u %t "%r"', `${list} - ada [${TIME}] "POST /a HTTP/1.1"`),
    ).toMatchObject({
      forwarded: list,
      user: 'ada',
    })
    const agent = '\\" \\"8.8.8.8\\"'
    const main = `10.0.3.4 - ada [${TIME}] "POST /a HTTP/1.1" 200 1 "-" "${agent}" "198.51.100.7"`
    expect(read('main', main)).toMatchObject({ forwarded: '198.51.100.7' })
  })

  test.each([
    ['', 'no $remote_addr before " - "'],
    ['garbage', 'no $remote_addr before " - "'],
    [`198.51.100.7 - ada`, 'no $remote_user before " ["'],
    [`198.51.100.7 - ada [yesterday] "GET / HTTP/1.1"`, 'no $time_local before "] \\""'],
    [`198.51.100.7 - ada [${TIME}] GET`, 'no $time_local before "] \\""'],
  ])('%j that does not have the format is unreadable, and the reader says where', (line, where) => {
    const reader = new TemplateReader(
      parseTemplate('$remote_addr - $remote_user [$time_local] "$request" $status'),
    )
    expect([reader.read(line, emptyRequest()), reader.mismatch(line)]).toEqual(['unreadable', where])
  })

  test('without a request line is not a request', () => {
    expect(read('combined', COMBINED.replace('POST /a?b=c HTTP/1.1', '\\x16\\x03'))).toBe('other')
    expect(read('%h %t %m %U', `198.51.100.7 [${TIME}] - -`)).toBe('other')
  })

  test('of 4 MB is given up after a number of tries', () => {
    const format = '$remote_addr $a $b $c $d $e [$time_local] "$request"'
    expect(read(format, `198.51.100.7 ${'x [ '.repeat(1_000_000)}`)).toBe('unreadable')
    expect(read('combined', COMBINED.replace('ada', 'x '.repeat(2_000_000)))).toMatchObject({ path: '/a' })
  })
})

test.each([
  [
    'combine',
    '--format must be common, combined, vhost_combined, main, or a log format of nginx or Apache, got "combine"; did you mean combined?',
  ],
  ['', '--format must be common, combined, vhost_combined, main, or a log format of nginx or Apache, got ""'],
  ['$remote_addr "$request"', '--format has no time, such as [$time_local]'],
  [
    '$remote_addr [$time_locl]',
    '--format has no time, such as [$time_local]; for $time_locl, did you mean $time_local?',
  ],
  ['$time_local "$request"', '--format has no IP address of a client, such as $remote_addr'],
  [
    '$remote_adr $time_local',
    '--format has no IP address of a client, such as $remote_addr; for $remote_adr, did you mean $remote_addr?',
  ],
  ['%h "%r"', '--format has no time, such as %t'],
  ['%t "%r"', '--format has no IP address of a client, such as %h'],
  ['%h %t %z', '--format has "%z", which Apache does not know'],
  ['%h %t %{x}r', '--format has "%{x}r", which Apache does not know'],
  [
    '$remote_addr$remote_user $time_local',
    '--format has nothing between $remote_addr and $remote_user; log them with a space between them',
  ],
])('the wrong format %j is explained', (format, message) => {
  expect(() => parseTemplate(format)).toThrow(new UsageError(message))
})
