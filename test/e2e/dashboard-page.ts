import { readFile } from 'node:fs/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { bundleWithPage } from '../support/servers/bundle-with-page.js'
import { launchChromium } from '../support/servers/chromium.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { type Example, startExample } from './examples/start-example.js'

export const PASSWORD = 'a password'
export const CREDENTIALS = { username: 'admin', password: PASSWORD }
export const WIDE: BrowserContextOptions = { viewport: { width: 1440, height: 900 } }
export const WALL: BrowserContextOptions = { viewport: { width: 2560, height: 1440 } }
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
}
/** Where pictures of the page are left for a person to look at; nowhere by default. */
const PICTURES = process.env.DASHBOARD_PICTURES
const axe = readFile(require.resolve('axe-core/axe.min.js'), 'utf8')

export interface OpenDashboard {
  readonly page: Page
  /** What the console and the page complain of, dialogs, and the requests to other servers. */
  readonly troubles: string[]
}

/** The row of a limiter in the overview, and the view of a limiter. */
export const row = (page: Page, limiter: string) => page.locator(`[data-limiter="${limiter}"]`)
export const detail = (page: Page, limiter: string) => page.locator(`[data-detail="${limiter}"]`)
export const figure = (page: Page, limiter: string, name: string) =>
  detail(page, limiter)
    .locator('.figures div', { has: page.getByText(name, { exact: true }) })
    .locator('dd')

/** Returns what axe finds, one line each. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(await axe)
  return page.evaluate(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`)
}

export async function takePicture(page: Page, name: string): Promise<void> {
  if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true })
}

/** Opens the view of a client, and looks one up. */
export async function lookUp(page: Page, identity: string): Promise<void> {
  await page.getByRole('link', { name: 'Clients', exact: true }).click()
  await page.getByLabel(/^IP address, user, name/).fill(identity)
  await page.getByRole('button', { name: 'Look up', exact: true }).click()
}

/** Resolves once the page shows what the server has sent. */
export async function isLive(page: Page): Promise<void> {
  await page.locator('#connection.is-live').waitFor()
}

/** Opens an address of the dashboard in a context of its own, and notes what goes wrong. */
export async function openIn(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenDashboard & { close(): Promise<void> }> {
  const context = await browser.newContext({ ...WIDE, reducedMotion: 'reduce', ...options })
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
  const { origin } = new URL(url)
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/limits`)) troubles.push(request.url())
  })
  await page.goto(url)
  return { page, troubles, close: () => context.close() }
}

/** The example, and how tests use it. */
export interface UsedDashboard {
  readonly browser: Browser
  readonly example: Example
  /** Closes something after the test. */
  closeAfterTest(close: () => Promise<void>): void
  /** Opens the page of the example, until the test ends. */
  open(options?: BrowserContextOptions, address?: string): Promise<OpenDashboard>
  /** Sends requests of a client of the API. Returns their statuses. */
  sendAs(client: string, count: number): Promise<number[]>
  logInAs(account: string): Promise<number>
}

/** Starts examples/dashboard.ts without traffic, and a browser, for the tests of a file. */
export function useDashboard(): UsedDashboard {
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

  async function open(options: BrowserContextOptions = {}, address = ''): Promise<OpenDashboard> {
    const settings = { httpCredentials: CREDENTIALS, ...options }
    const opened = await openIn(browser, `${example.url}/limits${address}`, settings)
    closing.push(opened.close)
    return opened
  }

  async function sendAs(client: string, count: number): Promise<number[]> {
    const send = async () => (await fetch(example.url, { headers: { 'x-api-key': client } })).status
    const statuses: number[] = []
    for (let i = 0; i < count; i++) statuses.push(await send())
    return statuses
  }

  async function logInAs(account: string): Promise<number> {
    return (await fetch(`${example.url}/login/${encodeURIComponent(account)}`, { method: 'POST' })).status
  }

  return {
    get browser() {
      return browser
    },
    get example() {
      return example
    },
    closeAfterTest: (close) => void closing.push(close),
    open,
    sendAs,
    logInAs,
  }
}
