import { readFile } from 'node:fs/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { bundleWithPage } from '../support/servers/bundle-with-page.js'
import { launchChromium } from '../support/servers/chromium.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { type Example, startExample } from './examples/start-example.js'

export const PASSWORD = 'a password'
export const CREDENTIALS = { username: 'admin', password: PASSWORD }
export const WIDE: BrowserContextOptions = { viewport: { width: 1440, height: 900 } }
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

export const card = (page: Page, limiter: string) => page.locator(`[data-limiter="${limiter}"]`)
export const figure = (page: Page, limiter: string, name: string) =>
  card(page, limiter)
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

export async function lookUp(page: Page, identity: string): Promise<void> {
  await page.getByLabel(/^IP address, user, name/).fill(identity)
  await page.getByRole('button', { name: 'Look up', exact: true }).click()
}

/** The example, and how tests use it. */
export interface UsedDashboard {
  readonly browser: Browser
  readonly example: Example
  /** Closes something after the test. */
  closeAfterTest(close: () => Promise<void>): void
  /** Opens the page of the example, until the test ends. */
  open(options?: BrowserContextOptions): Promise<OpenDashboard>
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
