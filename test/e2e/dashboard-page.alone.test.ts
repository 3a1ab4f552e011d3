import { readFile } from 'node:fs/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { bundleWithPage } from '../support/servers/bundle-with-page.js'
import { launchChromium } from '../support/servers/chromium.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { until } from '../support/servers/wait.js'
import { type Example, startExample } from './examples/start-example.js'

jest.setTimeout(60_000)

const PASSWORD = 'a password'
const CREDENTIALS = { username: 'admin', password: PASSWORD }
const WIDE: BrowserContextOptions = { viewport: { width: 1440, height: 900 } }
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
/** Where pictures of the page are left for a person to look at; nowhere by default. */
const PICTURES = process.env.DASHBOARD_PICTURES
const axe = readFile(require.resolve('axe-core/axe.min.js'), 'utf8')

let browser: Browser
let example: Example
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  const starting = launchChromium()
  example = await startExample('examples/dashboard.ts', { TRAFFIC: 'off', PASSWORD }, bundleWithPage)
  browser = await starting
}, INSTALL_TIMEOUT_MS)
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
afterAll(async () => {
  await browser?.close()
  await example?.stop()
})

interface OpenDashboard {
  readonly page: Page
  /** What the console and the page complain of, dialogs, and the requests to other servers. */
  readonly troubles: string[]
}

/** Opens the page of the example, until the test ends. */
async function open(options: BrowserContextOptions = {}): Promise<OpenDashboard> {
  const settings = { ...WIDE, httpCredentials: CREDENTIALS, reducedMotion: 'reduce' as const, ...options }
  const context = await browser.newContext(settings)
  closing.push(() => context.close())
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(error.message))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(message.text())
  })
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(`${example.url}/limits`)) troubles.push(request.url())
  })
  await page.goto(`${example.url}/limits`)
  return { page, troubles }
}

/** Sends requests of a client of the API. Returns their statuses. */
async function sendAs(client: string, count: number): Promise<number[]> {
  const send = async () => (await fetch(example.url, { headers: { 'x-api-key': client } })).status
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push(await send())
  return statuses
}

async function logInAs(account: string): Promise<number> {
  return (await fetch(`${example.url}/login/${encodeURIComponent(account)}`, { method: 'POST' })).status
}

const card = (page: Page, limiter: string) => page.locator(`[data-limiter="${limiter}"]`)
const figure = (page: Page, limiter: string, name: string) =>
  card(page, limiter)
    .locator('.figures div', { has: page.getByText(name, { exact: true }) })
    .locator('dd')

/** Returns what axe finds, one line each. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(await axe)
  return page.evaluate(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`)
}

async function takePicture(page: Page, name: string): Promise<void> {
  if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true })
}

async function lookUp(page: Page, identity: string): Promise<void> {
  await page.getByLabel(/^Address, user, name/).fill(identity)
  await page.getByRole('button', { name: 'Look up', exact: true }).click()
}

test('traffic appears within two seconds, without a click', async () => {
  const { page, troubles } = await open()
  await figure(page, 'api', 'allowed a second').waitFor()
  await page.locator('#connection', { hasText: 'Live' }).waitFor()
  const sentAtMs = performance.now()
  expect(await sendAs('visible', 22)).toEqual([...Array(20).fill(200), 429, 429])
  await card(page, 'api').locator('.number', { hasText: /^2$/ }).first().waitFor()
  await figure(page, 'api', 'denied').getByText('9 %').waitFor()
  expect(performance.now() - sentAtMs).toBeLessThan(2000)
  expect(await figure(page, 'api', 'store').textContent()).toBe('memory, up')
  expect(await page.locator('.uplot canvas').count()).toBe(2)
  expect(troubles).toEqual([])
})

test('a limited client is found, released by keyboard alone, and let in again', async () => {
  const { page, troubles } = await open()
  await sendAs('ada', 20)
  expect(await sendAs('ada', 1)).toEqual([429])
  await page.locator('body').press('Tab') // to the link over the page
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.id')).toBe('identity')
  await page.keyboard.type('ada')
  await page.keyboard.press('Enter')
  await page.locator('#found', { hasText: 'Limited: ada' }).waitFor()
  const found = page.locator('[data-found=api]')
  expect(await found.locator('tbody').textContent()).toMatch(/^api.*0 of 20used up: more in /)
  await page.getByRole('button', { name: 'Look up', exact: true }).focus()
  const isOnRelease = `document.activeElement.textContent === 'Release'`
  for (let i = 0; i < 5 && !(await page.evaluate(isOnRelease)); i++) await page.keyboard.press('Tab')
  expect(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('solid')
  await page.keyboard.press('Enter')
  await page.locator('#found', { hasText: 'No limiter knows ada: released in api.' }).waitFor()
  expect(await page.evaluate('document.activeElement.className')).toBe('summary')
  expect(await sendAs('ada', 1)).toEqual([200])
  expect(troubles).toEqual([])
})

test('a client is blocked and released', async () => {
  const { page, troubles } = await open()
  expect(await logInAs('grace')).toBe(401)
  await lookUp(page, 'grace')
  await page.getByRole('button', { name: 'Block for 10 minutes in login' }).click()
  await page.locator('#found', { hasText: 'Limited: grace: blocked for 10 minutes in login.' }).waitFor()
  expect(await page.locator('[data-found=login] tbody').textContent()).toContain('banned for 10 min')
  expect(await logInAs('grace')).toBe(429)
  await takePicture(page, 'blocked')
  await page.getByRole('button', { name: 'Release in login' }).click()
  await page.locator('#found', { hasText: 'released in login.' }).waitFor()
  expect(await logInAs('grace')).toBe(401)
  expect(troubles).toEqual([])
})

test('whoever has no password sees nothing', async () => {
  for (const [path, method] of [
    ['', 'GET'],
    ['/', 'GET'],
    ['/main.js', 'GET'],
    ['/events', 'GET'],
    ['/lookup', 'POST'],
  ]) {
    const response = await fetch(`${example.url}/limits${path}`, { method: method as string })
    expect([path, response.status]).toEqual([path, 401])
    expect(await response.text()).toBe('Unauthorized')
  }
})

const HOSTILE = [
  '<img src=x onerror=alert(1)><script>alert(2)</script>',
  `"' onmouseover=alert(3) x="`,
  '\u202egnp.exe\u2066\u200f',
  `${'W'.repeat(1000)}`,
  'x'.repeat(10_240),
  'ada\0',
]

/** Returns how the page shows an identity: marks that turn the direction of others are spelled out. */
const spelled = (identity: string) =>
  identity.replace(/[\u202e\u2066\u200f]/g, (mark) => `\\u{${mark.charCodeAt(0).toString(16)}}`)

test.each([
  ['a wide screen', WIDE],
  ['a phone', PHONE],
])('hostile identities are text on %s, and break no layout', async (name, options) => {
  const { page, troubles } = await open(options)
  await page.locator('#connection', { hasText: 'Live' }).waitFor()
  const width = await page.evaluate('document.documentElement.scrollWidth')
  for (const identity of HOSTILE) {
    if (identity.length < 1000 && !identity.includes('\0')) await logInAs(identity)
    await lookUp(page, identity)
    const isPossible = identity.length <= 1024 && !identity.includes('\0')
    if (isPossible)
      await page.locator('#found .summary .identity', { hasText: identity.slice(1, 8) }).waitFor()
    else await page.locator('#found .problem', { hasText: 'No client has such an identity' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    if (isPossible)
      expect(await page.locator('#found .summary .identity').textContent()).toBe(spelled(identity))
    await takePicture(page, `hostile-${HOSTILE.indexOf(identity)}-${name.replaceAll(' ', '-')}`)
  }
  expect(await page.locator('img[src=x], #found script').count()).toBe(0)
  expect(troubles.filter((text) => !text.includes('status of 400'))).toEqual([])
})

test('the focus and the scrolling of a list stay as its figures change', async () => {
  const { page } = await open()
  await Promise.all(Array.from({ length: 20 }, (_, i) => sendAs(`scrolled-${i}`, 17)))
  const list = card(page, 'api').getByRole('group', { name: 'Clients near a limit' })
  await list.locator('tr').nth(19).waitFor()
  await list.focus()
  await list.evaluate((element) => element.scrollTo(0, 50))
  const before = await list.locator('tbody').textContent()
  await sendAs('scrolled-3', 2)
  await until('the list has changed', async () => (await list.locator('tbody').textContent()) !== before)
  expect(await list.evaluate((element) => element.scrollTop)).toBe(50)
  expect(await page.evaluate(`document.activeElement.getAttribute('aria-label')`)).toBe(
    'Clients near a limit',
  )
  const client = list.locator('button').nth(4)
  const name = await client.textContent()
  await client.focus()
  const then = await list.locator('tbody').textContent()
  await sendAs('scrolled-3', 1)
  await until('the list has changed', async () => (await list.locator('tbody').textContent()) !== then)
  expect(await page.evaluate('document.activeElement.textContent')).toBe(name)
  await page.keyboard.press('Enter')
  await page.locator('#found .summary', { hasText: name as string }).waitFor()
})

describe('axe', () => {
  test.each([
    ['a wide screen', WIDE],
    ['a phone', PHONE],
  ])('finds nothing on %s, in light and dark', async (name, options) => {
    await sendAs('seen', 25)
    for (let i = 0; i < 9; i++) await logInAs('eve')
    const { page, troubles } = await open({ ...options, colorScheme: 'light' })
    await card(page, 'login')
      .getByRole('group', { name: /^Denied most/ })
      .waitFor()
    await lookUp(page, 'eve')
    await page.locator('[data-found=login] tbody').waitFor()
    const [width] = [page.viewportSize()?.width]
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await findings(page)).toEqual([])
      await takePicture(page, `${name.replaceAll(' ', '-')}-${colorScheme}`)
    }
    expect(troubles).toEqual([])
  })
})

test('a page whose server is gone says since when its figures are old', async () => {
  const own = await startExample('examples/dashboard.ts', { TRAFFIC: 'off', PASSWORD }, bundleWithPage)
  const context = await browser.newContext({ httpCredentials: CREDENTIALS })
  closing.push(() => context.close())
  const page = await context.newPage()
  await page.goto(`${own.url}/limits/`)
  await page.locator('#connection', { hasText: 'Live' }).waitFor()
  expect(await own.stop()).toBe(0) // though the page is open
  const status = page.locator('#connection', { hasText: /^No connection since \d\d:\d\d:\d\d/ })
  await status.waitFor()
})
