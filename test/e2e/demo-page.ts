import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Bundle } from '../support/servers/bundle.js'
import { launchChromium } from '../support/servers/chromium.js'
import { bundleDemo, startDemo } from './demo-process.js'

/** The page of a demo, open in a browser. */
export interface OpenDemo {
  readonly page: Page
  readonly url: string
  /** What the console and the page complain of, and the requests to other servers. */
  readonly troubles: string[]
  /** The paths of the requests so far. */
  readonly paths: string[]
  /** Ends the server. The returned function starts it again on the same port. */
  stopServer(): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** The statuses that the demo is about. */
const EXPECTED = /status of (401|429|503) |ERR_(CONNECTION|EMPTY)/

/**
 * Starts a browser for the tests of a file. The returned `open` starts a demo, in a process of its own, and
 * opens its page, both until the test ends; `prepare` is called before the page loads.
 */
export function useDemos() {
  const opened: OpenDemo[] = []
  let browser: Browser
  let program: Bundle

  async function closeAll(): Promise<void> {
    await Promise.all(opened.splice(0).map((demo) => demo.close()))
  }

  beforeAll(async () => {
    browser = await launchChromium()
    program = await bundleDemo()
  }, 600_000) // where Chromium has to be installed first
  afterEach(closeAll)
  afterAll(async () => {
    await closeAll()
    await browser?.close()
    await program?.remove()
  })

  async function open(options?: BrowserContextOptions, prepare?: (page: Page) => unknown): Promise<OpenDemo> {
    const demo = await openDemo(browser, program, options, prepare)
    opened.push(demo)
    return demo
  }

  /** Runs a scenario on a page of its own, which is closed at once: an open page goes on sending. */
  const onPage = (run: (demo: OpenDemo) => Promise<void>, prepare?: (page: Page) => unknown) => async () => {
    const demo = await open({}, prepare)
    await run(demo).finally(demo.close)
  }

  return { open, onPage }
}

async function openDemo(
  browser: Browser,
  program: Bundle,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => unknown = () => undefined,
): Promise<OpenDemo> {
  let server = startDemo({}, program)
  const url = `${await server.listening()}/`
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  const troubles: string[] = []
  const paths: string[] = []
  page.on('pageerror', (error) => troubles.push(error.message))
  page.on('console', (message) => {
    const isTrouble = ['error', 'warning'].includes(message.type()) && !EXPECTED.test(message.text())
    if (isTrouble) troubles.push(message.text())
  })
  page.on('request', (request) => {
    if (request.url().startsWith(url)) paths.push(new URL(request.url()).pathname)
    else troubles.push(request.url())
  })
  await prepare(page)
  await page.goto(url)
  return {
    page,
    url,
    troubles,
    paths,
    async stopServer() {
      await server.stop('SIGKILL')
      return async () => {
        server = startDemo({ PORT: new URL(url).port }, program)
        await server.listening()
      }
    },
    async close() {
      await Promise.all([context.close(), server.stop('SIGKILL')])
    },
  }
}

/** What the functions that run inside the page use of the browser. */
declare const document: {
  querySelector(selector: string): { readonly textContent: string }
  querySelectorAll(selector: string): Iterable<{ readonly textContent: string }>
}

/** Waits until each lane has sent so many requests; gives the time since the page was opened, in ms. */
export const untilSent = (page: Page, requests: number) =>
  page.waitForFunction((n) => {
    const lanes = Array.from(document.querySelectorAll('[data-sent]'))
    return lanes.length > 0 && lanes.every(({ textContent }) => +textContent >= n) && performance.now()
  }, requests)

/** Waits until an element's number is at least this. */
export const untilNumber = (page: Page, selector: string, least: number) =>
  page.waitForFunction(
    ([at, n]) => Number.parseInt(document.querySelector(at as string).textContent, 10) >= Number(n),
    [selector, least],
  )

/** Waits until an element matches on one frame. A slower poll misses what alternates. */
export const untilSeen = (page: Page, selector: string) =>
  page.waitForFunction((at) => document.querySelector(at) !== null, selector)

export const textOf = (page: Page, selector: string) => page.locator(selector).textContent()
export const choose = (page: Page, name: string) =>
  page.getByRole('radio', { name, exact: true }).check({ force: true })

/** Scrolls to a section once its code is there, which moves what is below. */
export async function show(page: Page, section: '#login' | '#outage'): Promise<void> {
  await page.locator(`${section} code`, { hasText: 'headgate' }).waitFor()
  await page.evaluate(`document.querySelector('${section}').scrollIntoView({ behavior: 'instant' })`)
}
