import { join } from 'node:path'
import express from 'express'
import { ban, consecutive, fixedWindow, type RateLimitOptions, rateLimit } from 'headgate'
import { closeServers, send, serve, type Target } from '../support/http.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { fetchPackages } from './package/fetched.js'
import { mustRun, ROOT } from './package/run.js'

/** The last versions for Node.js 20. */
const PACKAGES = { got: '14.6.5', ky: '1.14.3', axios: '1.21.1', 'axios-retry': '4.5.0', undici: '7.30.2' }
const CLIENTS = ['got', 'ky', 'axios-retry', 'undici']

afterEach(closeServers)

/** Serves a limiter with a bucket for each client. Returns what has arrived, by client. */
async function serveLimited(options: RateLimitOptions): Promise<Target & { arrived: Map<string, number> }> {
  const arrived = new Map<string, number>()
  const count: express.RequestHandler = ({ path }, _res, next) => {
    arrived.set(path.slice(1), (arrived.get(path.slice(1)) ?? 0) + 1)
    next()
  }
  const limit = rateLimit({ key: ({ path }) => path, ...options })
  const { port } = await serve(express().use(count, limit, (_req, res) => void res.send('hello')))
  return { port, arrived }
}

async function sendWithEach({ port }: Target): Promise<unknown> {
  const folder = await fetchPackages('retrying-clients', PACKAGES)
  const script = join(ROOT, 'test/e2e/package/retrying-clients.mjs')
  return JSON.parse(await mustRun(process.execPath, [script, folder, `http://127.0.0.1:${port}`], ROOT))
}

const byClient = (value: number) => Object.fromEntries(CLIENTS.map((name) => [name, value]))

test.each([
  ['a cost that never fits', { limit: 10, window: '1m', cost: 11 }],
  [
    'a cost that never fits, with the headers of the draft',
    { limit: 10, window: '1m', cost: 11, headers: 'both' },
  ],
  ['a cost that never fits in a window', { policy: fixedWindow({ limit: 10, window: '1m' }), cost: 11 }],
  [
    'a cost that no banned client can pay',
    {
      policy: ban(fixedWindow({ limit: 10, window: '1m' }), { after: 1, within: '1m', for: '1h' }),
      cost: 11,
    },
  ],
  ['consecutive', { policy: consecutive({ limit: 1 }) }],
  ['block', { limit: 10, window: '1m', block: ['127.0.0.1'] }],
] satisfies [string, RateLimitOptions][])(
  'got, ky, axios-retry and undici send no request again that is denied for ever: %s',
  async (_what, options) => {
    const target = await serveLimited(options)
    if ('policy' in options && !('cost' in options))
      for (const path of CLIENTS) await send(target, { path: `/${path}` })
    target.arrived.clear()
    expect(await sendWithEach(target)).toEqual(byClient(403))
    expect(Object.fromEntries(target.arrived)).toEqual(byClient(1))
  },
  INSTALL_TIMEOUT_MS,
)

test(
  'they send a request again that is denied for a second, and succeed',
  async () => {
    const limited = await serveLimited({ limit: 1, window: '6s' }) // longer than a busy machine takes to send both
    for (const path of CLIENTS) await send(limited, { path: `/${path}` })
    limited.arrived.clear()
    expect(await sendWithEach(limited)).toEqual(byClient(200))
    for (const client of CLIENTS) expect(limited.arrived.get(client)).toBeGreaterThan(1)
  },
  INSTALL_TIMEOUT_MS,
)
