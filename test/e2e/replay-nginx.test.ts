import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replayCommand } from '../../src/cli/replay/command.js'
import type { Report } from '../../src/cli/replay/report.js'
import { closeServers, send } from '../support/http.js'
import { startReverseProxy } from '../support/servers/reverse-proxy.js'

/**
 * Log formats, with how many of the lines are understood without `--format`: not what a client sent in a list
 * without quotes.
 */
const FORMATS = {
  common: ['$remote_addr - $remote_user [$time_local] "$request" $status "$http_x_forwarded_for"', 4],
  main: [
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for"',
    4,
  ],
  balanced: ['$remote_addr ($http_x_forwarded_for) - $remote_user [$time_iso8601] "$request" $status', 4],
  quoted: ['"$http_x_forwarded_for" $remote_addr - "$remote_user" [$msec] "$host" "$request"', 4],
  bare: ['$time_iso8601 $remote_addr $http_x_forwarded_for "$request" $status', 3],
  piped: ['$msec|$remote_addr|$http_x_forwarded_for|$remote_user|$request_method|$request_uri', 0],
} as const

type Name = keyof typeof FORMATS
const NAMES = Object.keys(FORMATS) as Name[]

/** What clients send, and the entry that the load balancer in front of nginx appends. */
const REQUESTS = [
  { path: '/a?b', forwarded: '198.51.100.7', user: '', agent: 'curl/8' },
  { path: '/a', forwarded: '203.0.113.66, 198.51.100.7', user: 'ada', agent: '' },
  { path: '/a', forwarded: '"] "GET /x HTTP/1.1", 198.51.100.7', user: '"x" [y', agent: '203.0.113.1' },
  { path: '/a%22', forwarded: '198.51.100.8', user: 'jos\u00e9 ] "', agent: '"GET / HTTP/1.1"' },
]

let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'headgate-nginx-'))
  const formats = NAMES.map((name) => `log_format own_${name} '${FORMATS[name][0]}';`).join('\n')
  const logs = NAMES.map((name) => `access_log ${join(folder, name)} own_${name};`).join('\n')
  const nginx = await startReverseProxy('nginx', 1, `${logs}\nreturn 200;`, formats)
  try {
    for (const { path, forwarded, user, agent } of REQUESTS) {
      const authorization = `Basic ${Buffer.from(`${user}:secret`).toString('base64')}`
      await send(nginx, {
        path,
        headers: {
          ...{ 'x-forwarded-for': forwarded, 'user-agent': agent },
          ...(user !== '' && { authorization }),
        },
      })
    }
  } finally {
    await nginx.stop()
  }
}, 600_000) // where nginx has to be installed first

afterAll(async () => {
  await closeServers()
  rmSync(folder, { recursive: true, force: true })
})

async function replay(name: Name, ...args: readonly string[]): Promise<Report> {
  return JSON.parse(
    await replayCommand([join(folder, name), '--limit', '1', '--window', '1m', '--json', ...args]),
  )
}

test.each(NAMES)('what nginx writes is read: %s', async (name) => {
  const [format, understood] = FORMATS[name]
  const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')
  expect(lines).toHaveLength(REQUESTS.length)
  expect(await found(name, '--format', format)).toEqual({ requests: 4, unreadable: 0, most: 3 })
  if (understood > 0) expect(await found(name)).toEqual({ requests: 4, unreadable: 0, most: understood - 1 })
})

/** Returns how many requests are those of the client that sent the most. */
async function found(name: Name, ...args: readonly string[]) {
  const { requests, unreadable, limits } = await replay(name, ...args)
  const [most] = limits[0]?.mostDenied ?? []
  expect(most?.client).toBe('198.51.100.7')
  return { requests, unreadable: unreadable.lines, most: most?.requests }
}
