import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InputError } from '../../../src/cli/failures.js'
import { replayCommand } from '../../../src/cli/replay/command.js'
import type { Report } from '../../../src/cli/replay/report.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'headgate-prefix-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Replays lines in this process. */
async function replay(lines: readonly string[], ...options: readonly string[]): Promise<Report> {
  const file = join(folder, 'access.log')
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''), 'utf8')
  const args = [file, '--limit', '2', '--window', '1m', '--policy', 'fixed-window', '--json', ...options]
  return JSON.parse(await replayCommand(args))
}

/**
 * Who sends a request in each of the first seconds after noon: one client four times, one twice, one once.
 */
const CLIENTS = [
  '192.0.2.7',
  '2001:db8::1',
  '192.0.2.7',
  '198.51.100.9',
  '192.0.2.7',
  '2001:db8::1',
  '192.0.2.7',
]
const MOST_DENIED = [{ client: '192.0.2.7', requests: 4, denied: 2 }]

const REQUEST = 'GET /users?page=2 HTTP/1.1'
const FORMATS: Readonly<Record<string, (client: string, second: number) => string>> = {
  common: (client, second) => `${client} - ada [01/May/2024:12:00:0${second} +0000] "${REQUEST}" 200 2326`,
  combined: (client, second) =>
    `${FORMATS.common?.(client, second)} "https://a.example/" "Mozilla/5.0 (X11) 9.9.9.9 - -"`,
  'virtual hosts': (client, second) => `shop.example:443 ${FORMATS.common?.(client, second)}`,
  JSON: (client, second) =>
    JSON.stringify({ time: `2024-05-01T12:00:0${second}Z`, remote_addr: client, request: REQUEST }),
}

/** What each tool writes before the line of a second. */
const PREFIXES: Readonly<Record<string, (second: number) => string>> = {
  'syslog (RFC 3164)': (s) => `May  1 12:00:0${s} web1 nginx: `,
  'syslog (RFC 3164) with a priority': (s) => `<190>May  1 12:00:0${s} web1.example.com nginx: `,
  'syslog of nginx without a host': (s) => `<190>May  1 12:00:0${s} nginx: `,
  'syslog without a program': (s) => `May 11 12:00:0${s} 10.0.0.5 `,
  'syslog in a file of rsyslog': (s) => `2024-05-01T12:00:0${s}.123456+02:00 web1 nginx[812]: `,
  'syslog (RFC 5424)': (s) => `<134>1 2024-05-01T12:00:0${s}.003Z web1 nginx 812 - - `,
  'syslog (RFC 5424) with data': (s) =>
    `<134>1 2024-05-01T12:00:0${s}.003Z web1 nginx - ID47 [x@32473 a="\\" \\] 9.9.9.9"][y] `,
  'pm2 logs': () => '0|api      | ',
  'pm2 logs --time': (s) => `12|web-api | 2024-05-01T12:00:0${s}: `,
  journalctl: (s) => `May 01 12:00:0${s} web1 node[4711]: `,
  'journalctl -o short-precise': (s) => `May 01 12:00:0${s}.004711 web1 node[4711]: `,
  'journalctl -o short-iso': (s) => `2024-05-01T12:00:0${s}+0200 web1 node[4711]: `,
  'journalctl -o short-iso-precise': (s) => `2024-05-01T12:00:0${s}.004711+02:00 web1 node[4711]: `,
  'journalctl -o short-full': (s) => `Wed 2024-05-01 12:00:0${s} CEST web1 node[4711]: `,
  'journalctl -o short-unix': (s) => `171456480${s}.004711 web1 node[4711]: `,
  'docker compose logs': (s) => `${['web-1', 'web-10', 'shop.web-1'][s % 3]?.padEnd(11)} | `,
  'docker compose logs --timestamps': (s) => `web-1  | 2024-05-01T12:00:0${s}.123456789Z `,
  'docker service logs': () => 'web.1.w8m2t6tdyhlz@node-1    | ',
  'docker logs --timestamps': (s) => `2024-05-01T12:00:0${s}.123456789Z `,
  'the files of CRI': (s) => `2024-05-01T12:00:0${s}.123456789+02:00 ${s % 2 ? 'stdout' : 'stderr'} F `,
  'kubectl logs --prefix': () => '[pod/web-6d4cf56db6-x2x7k/nginx] ',
  'kubectl logs --timestamps': (s) => `2024-05-01T12:00:0${s}.123456789Z `,
  'kubectl logs --prefix --timestamps': (s) =>
    `[pod/web-6d4cf56db6-x2x7k/nginx] 2024-05-01T12:00:0${s}.123456789Z `,
  stern: () => 'web-6d4cf56db6-x2x7k nginx ',
  'stern --all-namespaces': () => 'shop web-6d4cf56db6-x2x7k nginx ',
  'stern --timestamps': (s) => `web-6d4cf56db6-x2x7k nginx 2024-05-01T12:00:0${s}.123456789Z `,
  'docker compose in a unit of systemd': (s) => `May 01 12:00:0${s} web1 docker[99]: web-1  | `,
  'aws logs tail': (s) => `2024-05-01T12:00:0${s}.123000+00:00 web/nginx/0123456789abcdef `,
}

test.each(Object.keys(PREFIXES))('the lines of %s are read without their prefix', async (tool) => {
  for (const [format, lineOf] of Object.entries(FORMATS)) {
    const lines = CLIENTS.map((client, second) => PREFIXES[tool]?.(second) + lineOf(client, second))
    const { requests, unreadable, clients, limits } = await replay(lines)
    const found = { format, requests, unreadable: unreadable.lines, clients, most: limits[0]?.mostDenied }
    expect(found).toEqual({ format, requests: 7, unreadable: 0, clients: 3, most: MOST_DENIED })
  }
})

const line = (client: string, second = 0) => FORMATS.combined?.(client, second) as string
const composed = (client: string, second: number) => `web-1  | ${line(client, second)}`

test('a line that CRI has split is read as one, beside those of the other stream', async () => {
  const at = (stream: string, tag: string, text: string) => `2024-05-01T12:00:00.1Z ${stream} ${tag} ${text}`
  const [first, second] = [line('192.0.2.7'), line('192.0.2.8')]
  const { requests, unreadable, limits, clients } = await replay([
    at('stdout', 'P', first.slice(0, 90)),
    at('stderr', 'F', second),
    at('stdout', 'P', first.slice(90, 100)),
    at('stdout', 'F', `${first.slice(100)} ${line('203.0.113.1')}`), // as a client may have put it in a header
    ...[0, 1].map(() => at('stdout', 'F', first)),
  ])
  expect({ requests, unreadable: unreadable.lines, clients }).toEqual({
    requests: 4,
    unreadable: 0,
    clients: 2,
  })
  expect(limits[0]?.mostDenied).toEqual([{ client: '192.0.2.7', requests: 3, denied: 1 }])
})

test('lines after a prefix that are not requests are unreadable, even 900 of them at the start', async () => {
  const banner = Array.from({ length: 900 }, (_, i) => `db-1   | LOG:  checkpoint ${i} complete`)
  const { requests, unreadable } = await replay([
    ...banner,
    ...CLIENTS.map(composed),
    'web-1 exited with code 0',
  ])
  expect([requests, unreadable.lines]).toEqual([7, 901])
})

test('once the prefix is known, a line without it is unreadable, and so is a line with another', async () => {
  const others = ['203.0.113.1', '203.0.113.2'].map((client) => line(client, 6))
  const { requests, unreadable } = await replay([
    ...CLIENTS.map(composed),
    others[0] as string,
    `[pod/a/b] ${others[1]}`,
  ])
  expect([requests, unreadable.lines]).toEqual([7, 2])
})

test.each([
  ['a name of a user that looks like a line', '192.0.2.7 - x 9.9.9.9 - -'],
  ['a host name and an identity', 'client.example.com ada 9.9.9.9'],
  ['a name of a user that looks like a prefix', '192.0.2.7 - web-1 | 9.9.9.9 - -'],
])('an ordinary log is not changed by %s', async (_what, begin) => {
  const lines = CLIENTS.map((_client, s) => `${begin} [01/May/2024:12:00:0${s} +0000] "${REQUEST}" 200 1`)
  const { clients, limits } = await replay(lines)
  expect([clients, limits[0]?.mostDenied[0]?.client]).toEqual([1, begin.split(' ')[0]])
})

test('lines after an unknown prefix are not a log, and one of them among others is unreadable', async () => {
  const unknown = CLIENTS.map((client, s) => `~~ ${line(client, s)}`)
  await expect(replay(unknown)).rejects.toThrow(InputError)
  await expect(replay(unknown)).rejects.toThrow('is not an access log')
  const { requests, unreadable } = await replay([...CLIENTS.map(line), ...unknown.slice(0, 1)])
  expect([requests, unreadable.lines]).toEqual([7, 1])
})

test.each(['Oct', 'web-1', '2024-05-01T12:00:00Z', '[pod/a/b]', '<134>1'])(
  'a line that begins with %s, which is no client, is unreadable',
  async (word) => {
    const { requests, unreadable } = await replay([line('192.0.2.7'), line(word)])
    expect([requests, unreadable.lines]).toEqual([1, 1])
  },
)

test('a log without any address fails, unless it is not needed', async () => {
  const lines = ['-', 'unix:', '-'].map((client, s) => line(client, s))
  await expect(replay(lines)).rejects.toThrow(
    'none of the 3 requests has an IP address, which --key ip needs',
  )
  await expect(replay(lines, '--key', 'path')).resolves.toMatchObject({ requests: 3 })
})
