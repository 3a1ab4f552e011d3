import type { IncomingHttpHeaders } from 'node:http'
import express from 'express'
import { loginGuard } from 'headgate'
import type { Browser, Page } from 'playwright-core'
import { closeServers, type Served, send, serve } from '../support/http.js'
import { launchChromium } from '../support/servers/chromium.js'

const PASSWORDS: Readonly<Record<string, string>> = { ada: 'analytical engine', mallory: 'her own' }

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
}, 600_000) // where Chromium has to be installed first
afterEach(closeServers)
afterAll(() => browser?.close())

/** A login with its form, and the headers of the attempts that it has seen. */
async function startSite(): Promise<{ site: Served; seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = []
  const guard = loginGuard({
    field: 'username',
    name: 'csrf',
    deviceCookie: { secret: 'sixteen characters or more' },
  })
  const app = express().set('trust proxy', 1)
  app.get('/login', (_req, res) => {
    res.send(
      '<form method="post"><input name="username"><input name="password"><button>Log in</button></form>',
    )
  })
  app.post('/login', express.urlencoded(), guard, (req, res) => {
    seen.push(req.headers)
    const { username, password } = req.body
    res.status((PASSWORDS[username] ?? 'any') === password ? 200 : 401).send(`Answered ${username}`)
  })
  return { site: await serve(app), seen }
}

/** A page of another site that sends its visitor's browser to the login, with an account of its own. */
function startEvilSite({ port }: Served): Promise<Served> {
  return serve((_req, res) => {
    res.setHeader('Content-Type', 'text/html').end(
      `<form method="post" action="http://localhost:${port}/login">
        <input name="username" value="mallory"><input name="password" value="her own">
      </form><script>document.forms[0].submit()</script>`,
    )
  })
}

async function logIn(
  page: Page,
  { port }: Served,
  username = 'ada',
  password = 'analytical engine',
): Promise<number> {
  await page.goto(`http://localhost:${port}/login`)
  await page.locator('[name=username]').fill(username)
  await page.locator('[name=password]').fill(password)
  const answered = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.getByRole('button').click()
  return (await answered).status()
}

const deviceCookies = async (page: Page) =>
  (await page.context().cookies()).map(({ name }) => name).filter((name) => name.includes('device'))

test('a form that another site submits changes no device cookie of the browser', async () => {
  const { site, seen } = await startSite()
  const evil = await startEvilSite(site)
  const page = await browser.newPage()
  expect(await logIn(page, site)).toBe(200)
  const own = await deviceCookies(page)
  expect(own).toHaveLength(1)

  await page.goto(`http://127.0.0.1:${evil.port}/`)
  await page.getByText('Answered mallory').waitFor()
  expect(seen[1]).toMatchObject({ 'sec-fetch-site': 'cross-site' })
  expect(seen[1]).not.toHaveProperty('cookie') // SameSite=Lax: such a form carries none
  expect(await deviceCookies(page)).toEqual(own) // and leaves none

  for (let i = 0; i < 12; i++) {
    await send(site, {
      method: 'POST',
      path: '/login',
      headers: { 'X-Forwarded-For': `198.51.100.${i}`, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'username=ada&password=wrong',
    })
  }
  const stranger = await browser.newPage()
  expect(await logIn(stranger, site)).toBe(429)
  expect(await logIn(page, site)).toBe(200)
  await Promise.all([page.close(), stranger.close()])
})

test('a browser keeps ten device cookies', async () => {
  const { site } = await startSite()
  const page = await browser.newPage()
  expect(await logIn(page, site, 'user-0', 'any')).toBe(200)
  for (let i = 1; i < 12; i++) {
    const form = JSON.stringify(`username=user-${i}&password=any`)
    const post = `fetch('/login', { method: 'POST', body: new URLSearchParams(${form}) })`
    expect(await page.evaluate(`${post}.then(({ status }) => status)`)).toBe(200)
  }
  expect(await deviceCookies(page)).toHaveLength(10)
  await page.close()
})
