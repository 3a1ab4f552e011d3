import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { resolve } from 'node:path'
import express, { type RequestHandler } from 'express'
import { byIp, type RateLimitOptions, rateLimit } from '../../src/index.js'
import { type Handler, NODE_HTTP } from '../support/frameworks.js'
import {
  closeServers,
  closeWithServers,
  type Sent,
  send,
  serve,
  statuses,
  type Target,
  times,
} from '../support/http.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { startReverseProxy } from '../support/servers/reverse-proxy.js'
import { recordWarnings } from '../support/warnings.js'

const page = readFileSync(resolve(__dirname, '../../docs/proxies.md'), 'utf8')
const warnings = recordWarnings()

afterEach(closeServers)

/** What the page says about a proxy: its setting, if it needs one, and how many proxies to trust. */
function rowOf(title: string): { setting: string; trusted: number } {
  const cells = new RegExp(
    `^\\| \\[${title}\\]\\S+ \\| (?:\`(.+)\` appends|replaces) \\| \`(\\d)\` \\|$`,
    'm',
  )
  const [, setting = '', trusted] = cells.exec(page) ?? []
  return { setting, trusted: Number(trusted) }
}

const PROXIES = [
  ['nginx', rowOf('nginx')],
  ['haproxy', rowOf('HAProxy')],
  ['caddy', rowOf('Caddy')],
] as const

/** A server whose clients may send one request an hour, behind as many proxies as `trusted`. */
type MakeServer = (trusted: number) => RequestListener

const ONE = { limit: 1, window: '1h' } as const
const sayHello: Handler = (_req, res) => res.end('hello')

const inExpress: MakeServer = (trusted) => express().set('trust proxy', trusted).use(rateLimit(ONE), sayHello)

const inNode: MakeServer = (trusted) =>
  NODE_HTTP.app(rateLimit({ ...ONE, key: byIp({ trustProxy: trusted }) }), sayHello)

const SERVERS = [
  ['Express', inExpress],
  ['node:http', inNode],
] as const

type ProxyName = Parameters<typeof startReverseProxy>[0]

/** Starts a proxy for one test. */
async function proxyTo(upstream: Target, name: ProxyName, setting?: string): Promise<Target> {
  const proxy = await startReverseProxy(name, upstream.port, setting)
  closeWithServers(() => proxy.stop())
  return proxy
}

/** A request of a client that sends a header with each of these values. */
function forged(from: string, ...values: string[]): Sent {
  return { from, headers: values.length === 0 ? {} : { 'x-forwarded-for': values } }
}

const FORGED = [[], ['203.0.113.1'], ['203.0.113.2, 203.0.113.3'], ['203.0.113.4', '127.0.0.1'], ['x'], ['']]

/** The statuses of a client that forges addresses, and then those of another client. */
async function statusesOfTwo(target: Target): Promise<number[][]> {
  const ofFirst = await statuses(
    target,
    FORGED.map((values) => forged('127.0.0.5', ...values)),
  )
  return [ofFirst, await statuses(target, times(2, forged('127.0.0.6')))]
}

const EACH_ITS_LIMIT = [
  [200, ...Array(FORGED.length - 1).fill(429)],
  [200, 429],
]

test.each(PROXIES.flatMap(([proxy, row]) => SERVERS.map(([server, make]) => ({ proxy, row, server, make }))))(
  'behind $proxy, $server limits each client, whatever it writes into X-Forwarded-For',
  async ({ proxy, row: { setting, trusted }, make }) => {
    const target = await proxyTo(await serve(make(trusted)), proxy, setting)
    expect(await statusesOfTwo(target)).toEqual(EACH_ITS_LIMIT)
    expect(warnings()).toEqual([])
  },
  INSTALL_TIMEOUT_MS,
)

describe('behind HAProxy and nginx', () => {
  const [nginx, haproxy] = [rowOf('nginx'), rowOf('HAProxy')]
  const trusted = nginx.trusted + haproxy.trusted

  test(
    'the numbers add up',
    async () => {
      const inner = await proxyTo(await serve(inExpress(trusted)), 'nginx', nginx.setting)
      const outer = await proxyTo(inner, 'haproxy', haproxy.setting)
      expect(await statusesOfTwo(outer)).toEqual(EACH_ITS_LIMIT)
    },
    INSTALL_TIMEOUT_MS,
  )

  test(
    'a client that goes around one of them chooses its address',
    async () => {
      const inner = await proxyTo(await serve(inExpress(trusted)), 'nginx', nginx.setting)
      const requests = ['203.0.113.1', '203.0.113.2'].map((value) => forged('127.0.0.5', value))
      expect(await statuses(inner, requests)).toEqual([200, 200])
    },
    INSTALL_TIMEOUT_MS,
  )
})

test.each(['nginx', 'haproxy'] as const)(
  'without its setting, %s passes on what the client writes',
  async (name) => {
    const target = await proxyTo(await serve(inExpress(1)), name)
    const requests = ['203.0.113.1', '203.0.113.2'].map((value) => forged('127.0.0.5', value))
    expect(await statuses(target, requests)).toEqual([200, 200])
  },
  INSTALL_TIMEOUT_MS,
)

test(
  'if no proxy is trusted, all clients share one limit, and a warning says so',
  async () => {
    const target = await proxyTo(await serve(inExpress(0)), 'caddy')
    expect(await statuses(target, [forged('127.0.0.5'), forged('127.0.0.6')])).toEqual([200, 429])
    expect(warnings()).toEqual(['HEADGATE_UNTRUSTED_PROXY'])
  },
  INSTALL_TIMEOUT_MS,
)

/** Keeps what the application allows to keep, and shows whether a response came from the cache. */
const CACHE = `
  proxy_cache pages;
  proxy_cache_key $uri;
  proxy_set_header X-Forwarded-For $remote_addr;
  add_header X-Cache $upstream_cache_status;`

describe('behind a cache of nginx', () => {
  const BLOCKED = '127.0.0.5'
  const cacheable = {
    'Cache-Control': 'public, max-age=300',
    'X-Accel-Expires': '300',
    ETag: '"1"',
  }
  const app = (limit: RequestHandler) =>
    express()
      .set('trust proxy', 1)
      .use((_req, res, next) => next(void res.set(cacheable)), limit)
      .use((_req, res) => void res.send('hello'))

  test.each([
    ['blocked client', 403, { limit: 100, window: '1m', block: [BLOCKED] }],
    ['client over its limit', 429, { limit: 1, window: '1m' }],
    [
      'client over its limit, by onDenied',
      429,
      { limit: 1, window: '1m', onDenied: (_req, res) => res.send('no') },
    ],
  ] satisfies [string, number, RateLimitOptions][])(
    'the response to a %s is sent to no other client',
    async (_what, status, options) => {
      const target = await proxyTo(await serve(app(rateLimit(options))), 'nginx', CACHE)
      const get = (from: string, path: string) => send(target, { from, path })
      if (status === 429) await get(BLOCKED, '/other')
      expect((await get(BLOCKED, '/page')).status).toBe(status)
      const seen: unknown[] = []
      for (const from of ['127.0.0.6', '127.0.0.7']) {
        const { status, text, headers } = await get(from, '/page')
        seen.push([status, text, headers['x-cache']])
      }
      expect(seen).toEqual([
        [200, 'hello', 'MISS'],
        [200, 'hello', 'HIT'],
      ])
    },
    INSTALL_TIMEOUT_MS,
  )
})
