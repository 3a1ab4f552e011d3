import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import express, { type Request } from 'express'
import { createLimiter, fixedWindow, type Limiter } from 'headgate'
import { type DashboardOptions, dashboard } from 'headgate/dashboard'
import type { Browser, Page } from 'playwright-core'
import { closeServers, closeWithServers, send, serve } from '../support/http.js'
import { launchChromium } from '../support/servers/chromium.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { startReverseProxy } from '../support/servers/reverse-proxy.js'
import { lookUp } from './dashboard-page.js'

/** Names that all lead to this machine: the operator's, and one of a site that points its name here. */
const [OWN, FOREIGN] = ['limits.test', 'evil.test']
/** What getting started writes, for those who have no sign-in yet. */
const AUTHORIZE = 'authorize: (req) => req.socket.remoteAddress === req.socket.localAddress,'
const fromThisMachine = (req: Request) => req.socket.remoteAddress === req.socket.localAddress

let browser: Browser
let limiter: Limiter<string>

beforeAll(async () => {
  browser = await launchChromium({ [OWN]: '127.0.0.1', [FOREIGN]: '127.0.0.1' })
}, INSTALL_TIMEOUT_MS)
beforeEach(async () => {
  const policy = fixedWindow({ limit: 5, window: '1h' })
  limiter = createLimiter<string>({ name: 'api', policy, key: (id) => id })
  for (let i = 0; i < 6; i++) await limiter.charge('ada')
})
afterEach(closeServers)
afterAll(() => browser.close())

/** An app with the dashboard of the limiter at /admin/limits. */
function appWith(options: Partial<DashboardOptions<Request>> = {}): RequestListener {
  const page = dashboard({
    limiters: [limiter],
    authorize: fromThisMachine,
    operator: () => 'ada',
    ...options,
  })
  closeWithServers(async () => page.close())
  const app = express().use('/admin/limits', page)
  return app.get('/', (_req, res) => void res.send('a page'))
}

const left = async () => (await limiter.peek('ada')).remaining

async function newPage(): Promise<Page> {
  const page = await browser.newPage()
  closeWithServers(() => page.close())
  return page
}

/** Has a page of the site with this name, which leads to this machine, read and change what it can. */
async function attack(name: string, port: number): Promise<number[]> {
  const page = await newPage()
  await page.goto(`http://${name}:${port}/`)
  return page.evaluate(`(async () => {
    const get = ['', 'main.js', 'icon.svg'].map((file) => fetch('/admin/limits/' + file))
    const headers = { 'Content-Type': 'application/json' }
    const author = { by: 'ines', reason: 'ticket 7' }
    const asked = { limiter: 'api', identity: 'ada', targets: [{ identity: 'ada' }], ...author }
    const body = JSON.stringify(asked)
    const change = ['lookup', 'release'].map((action) =>
      fetch('/admin/limits/' + action, { method: 'POST', headers, body }))
    return (await Promise.all([...get, ...change])).map(({ status }) => status)
  })()`)
}

describe('a site that points its name at this machine (DNS rebinding)', () => {
  test('gets nothing from a dashboard that authorizes by address, as in getting started', async () => {
    expect(readFileSync(resolve(__dirname, '../../docs/getting-started.md'), 'utf8')).toContain(AUTHORIZE)
    const { port } = await serve(appWith())
    expect(await attack(FOREIGN, port)).toEqual([403, 403, 403, 403, 403])
    expect(await left()).toBe(0)
    expect(await attack('localhost', port)).toEqual([200, 200, 200, 200, 200]) // it would work
    expect(await left()).toBe(5)
  })

  test('gets nothing either if another name is listed', async () => {
    const { port } = await serve(appWith({ hosts: [OWN], authorize: () => true }))
    expect(await attack(FOREIGN, port)).toEqual([403, 403, 403, 403, 403])
    expect(await attack(OWN, port)).toEqual([200, 200, 200, 200, 200])
  })

  test.each([
    `${FOREIGN}:3000`,
    FOREIGN.toUpperCase(),
    `${FOREIGN}.`,
    '127.0.0.1.evil.test',
    'localhost.evil.test',
    'evil-localhost',
    `${OWN}.evil.test`,
    `evil${OWN}`,
    `a.${OWN}`,
    `${OWN}.`,
  ])('is not taken for an own one as %s', async (host) => {
    const calls: string[] = []
    const authorize = () => calls.push('authorize') > 0
    const served = await serve(appWith({ hosts: [OWN], authorize }))
    const { status, text } = await send(served, { path: '/admin/limits/', headers: { host } })
    expect(status).toBe(403)
    expect(JSON.parse(text)).toEqual({
      error: `The dashboard is not served at "${host}". If this name is yours, write hosts: ["${host}"] in the options of dashboard.`,
    })
    expect(calls).toEqual([])
  })

  test.each([
    '127.0.0.1',
    '127.0.0.1:3000',
    '[::1]:3000',
    '10.0.0.5',
    'localhost',
    'app.localhost:3000',
    'LOCALHOST',
  ])('%s is no such name', async (host) => {
    const served = await serve(appWith())
    expect(await send(served, { path: '/admin/limits/', headers: { host } })).toMatchObject({ status: 200 })
  })

  test('gets nothing over HTTP/2, where the host has another name', async () => {
    const page = dashboard({
      limiters: [limiter],
      authorize: () => true,
      operator: () => 'ada',
      hosts: [OWN],
    })
    const server = http2.createServer((req, res) => page(req as never, res as never))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const statusFor = async (authority: string) => {
      const [headers] = await once(client.request({ ':path': '/', ':authority': authority }), 'response')
      return headers[':status']
    }
    expect(await Promise.all([FOREIGN, `${OWN}:443`, 'localhost'].map(statusFor))).toEqual([403, 200, 200])
    client.close()
    server.close()
    page.close()
  })

  test.each(['evil.test@127.0.0.1', '127.0.0.1/evil.test', '[evil.test]', '127.0.0.1:80:80', ' '])(
    'what is no host, as %j, is a 400',
    async (host) => {
      const served = await serve(appWith())
      expect(await send(served, { path: '/admin/limits/', headers: { host } })).toMatchObject({ status: 400 })
    },
  )
})

describe('over plain HTTP behind nginx', () => {
  const PASS_ON = 'proxy_set_header Host $http_host;'

  /** What the page shows after a lookup and a release by an operator, who opens it as `host`. */
  async function release(setting: string, hostsFor: (host: string) => string[]): Promise<string> {
    let app: RequestListener
    const { port } = await serve((req, res) => app(req, res))
    const proxy = await startReverseProxy('nginx', port, setting)
    closeWithServers(() => proxy.stop())
    const host = `${OWN}:${proxy.port}`
    app = appWith({ authorize: () => true, hosts: hostsFor(host) })
    const page = await newPage()
    await page.goto(`http://${host}/admin/limits/`)
    await lookUp(page, 'ada')
    const button = page.getByRole('button', { name: 'Release in api' })
    const problem = page.locator('#found [role=alert], #found .problem')
    await button.or(problem).first().waitFor()
    if (await button.isVisible()) {
      await button.click()
      await page.getByRole('dialog').getByLabel('Reason').fill('ticket 7')
      await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click()
    }
    const said = page.locator('.done-message, #found', { hasText: /Released|another site/ })
    return ((await said.textContent()) ?? '').replaceAll(host, 'HOST')
  }

  test(
    'a release is denied if nginx replaces Host, with what to do about it',
    async () => {
      expect(await release('', () => [])).toMatch(
        /The request comes from another site\. Its Origin is "HOST", its Host "127\.0\.0\.1:\d+"\. If a proxy replaces Host, have it pass on the original \(nginx: proxy_set_header Host \$http_host;\), or write hosts: \["HOST"\] in the options of dashboard\./,
      )
      expect(await left()).toBe(0)
    },
    INSTALL_TIMEOUT_MS,
  )

  test.each([
    ['replaces Host, and the host is listed', '', (host: string) => [host]],
    ['passes on Host, and the host is listed', PASS_ON, (host: string) => [host]],
    ['passes on Host, and the name is listed', PASS_ON, () => [OWN]],
    [
      'passes on Host without its port, and the host is listed',
      'proxy_set_header Host $host;',
      (host: string) => [host],
    ],
  ])(
    'a release works if nginx %s',
    async (_, setting, hostsFor) => {
      expect(await release(setting, hostsFor)).toContain('Released ada in api.')
      expect(await left()).toBe(5)
    },
    INSTALL_TIMEOUT_MS,
  )

  test(
    'other sites, and other ports of a listed name, still change nothing',
    async () => {
      const { port } = await serve(appWith({ authorize: () => true, hosts: [`${OWN}:8080`] }))
      const proxy = await startReverseProxy('nginx', port)
      closeWithServers(() => proxy.stop())
      const author = { by: 'ines', reason: 'ticket 7' }
      const asked = { limiter: 'api', identity: 'ada', targets: [{ identity: 'ada' }], ...author }
      const body = JSON.stringify(asked)
      for (const origin of [
        `http://${FOREIGN}`,
        `http://${OWN}`,
        `http://${OWN}:8081`,
        'null',
        `http://a.${OWN}:8080`,
      ]) {
        const sent = { method: 'POST', path: '/admin/limits/release', body }
        const headers = { 'content-type': 'application/json', origin }
        expect(await send(proxy, { ...sent, headers })).toMatchObject({ status: 403 })
      }
      expect(await left()).toBe(0)
    },
    INSTALL_TIMEOUT_MS,
  )
})
