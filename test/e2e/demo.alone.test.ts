import { type AddressInfo, createServer } from 'node:net'
import { memoryStore } from 'headgate'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { demoApp } from '../../examples/demo/app.js'
import type { Bundle } from '../support/servers/bundle.js'
import { launchChromium } from '../support/servers/chromium.js'
import { testTogether } from '../support/servers/together.js'
import { bundleDemo, startDemo } from './demo-process.js'

jest.setTimeout(60_000)

let browser: Browser
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  browser = await launchChromium()
}, 600_000) // where Chromium has to be installed first

afterAll(() => browser?.close())

async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

afterEach(cleanUp)

/** Opens the page of a demo of its own. `troubles` gathers what the console and the page complain of. */
async function openDemo(options: BrowserContextOptions = {}, store = memoryStore()) {
  const server = demoApp(store).listen(0)
  cleanups.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  await new Promise((resolve) => server.once('listening', resolve))
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  cleanups.push(() => context.close())
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(error.message))
  page.on('console', (message) => {
    const expected = /status of (401 \(Unauthorized\)|429 \(Too Many Requests\))$/.test(message.text())
    if (['error', 'warning'].includes(message.type()) && !expected) troubles.push(message.text())
  })
  await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`)
  await remaining(page, 10)
  return { page, troubles }
}

const press = (page: Page, name: string) => page.getByRole('button', { name }).click()

/** Presses a button that sends one request to this path, and waits for the answer. */
async function pressFor(page: Page, name: string, path: string): Promise<number> {
  const answer = page.waitForResponse((response) => new URL(response.url()).pathname === path)
  await press(page, name)
  return (await answer).status()
}

/** Waits until the playground says that so many units of its quota are left. */
const remaining = (page: Page, units: number) =>
  page.locator('#play-gauge .reading', { hasText: new RegExp(`^\\s*${units}\\s+of 10 left`) }).waitFor()

/** What the functions that run inside the page use of the browser. */
declare const document: { querySelector(selector: string): { readonly textContent: string } }
declare const DOMMatrix: new (transform: string) => { readonly a: number }
declare function getComputedStyle(element: unknown): { readonly transform: string }

/** Waits until the bar is filled to a share between these two. */
function bar(page: Page, least: number, most: number) {
  const isFilled = ([least, most]: readonly [number, number]) => {
    const { transform } = getComputedStyle(document.querySelector('#play-gauge .water'))
    const share = new DOMMatrix(transform).a
    return share >= least && share <= most
  }
  return page.waitForFunction(isFilled, [least, most] as const)
}

/** Waits until the playground has so many answers. */
const untilAnswered = (page: Page, requests: number) =>
  page.waitForFunction((n) => Number(document.querySelector('[data-count=sent]').textContent) >= n, requests)

const count = (page: Page, outcome: 'allowed' | 'denied') =>
  page.locator(`[data-count=${outcome}]`).textContent().then(Number)

const marks = (page: Page, outcome: 'allowed' | 'denied') =>
  page.locator(`#timeline [data-mark=${outcome}]`).count()

/** Waits until a figure shows this status. */
const status = (page: Page, figure: string, text: string) =>
  page.locator(`${figure} .status`, { hasText: text }).waitFor()

/** The headers that a figure shows, by name. */
async function headersIn(page: Page, figure: string): Promise<Record<string, string>> {
  const names = await page.locator(`${figure} .headers dt`).allTextContents()
  const values = await page.locator(`${figure} .headers dd`).allTextContents()
  return Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']))
}

describe('the playground', () => {
  test('sends one request, and shows it, what is left and the headers of both styles', async () => {
    const { page, troubles } = await openDemo()
    await press(page, 'Send one')
    await status(page, '#play-response', '200 OK')
    expect(await marks(page, 'allowed')).toBe(1)
    expect(await headersIn(page, '#play-response')).toMatchObject({
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '9',
      'ratelimit-policy': '"token-bucket";q=10;w=10',
      ratelimit: '"token-bucket";r=9;t=1',
    })
    await remaining(page, 10) // a unit comes back each second
    expect(troubles).toEqual([])
  })

  test('runs dry, shows denials by another shape, and recovers', async () => {
    const { page, troubles } = await openDemo()
    await press(page, 'Send ten')
    await press(page, 'Send ten')
    await untilAnswered(page, 20)
    const [allowed, denied] = [await count(page, 'allowed'), await count(page, 'denied')]
    expect(allowed + denied).toBe(20)
    expect(allowed).toBeGreaterThanOrEqual(10)
    expect(denied).toBeGreaterThan(0)
    expect(await marks(page, 'allowed')).toBe(allowed)
    expect(await marks(page, 'denied')).toBe(denied)
    expect(await page.locator('[data-mark=allowed]').first().getAttribute('href')).toBe('#let-through')
    expect(await page.locator('[data-mark=denied]').first().getAttribute('href')).toBe('#denied')
    await status(page, '#play-response', '429 Too Many Requests')
    expect(await headersIn(page, '#play-response')).toHaveProperty('retry-after', '1')
    await page.locator('#summary', { hasText: '20 sent' }).waitFor({ state: 'attached' })

    await bar(page, 0.5, 1)
    await press(page, 'Send one')
    await status(page, '#play-response', '200 OK')
    expect(troubles).toEqual([])
  })

  test('shows an empty bar when nothing is left, and a full one after starting over', async () => {
    const { page } = await openDemo()
    await page.getByRole('radio', { name: 'Consecutive' }).check()
    await remaining(page, 10)
    await press(page, 'Send ten')
    await remaining(page, 0)
    await bar(page, 0, 0.01)
    await press(page, 'Send one')
    await status(page, '#play-response', '429 Too Many Requests')
    expect(await headersIn(page, '#play-response')).not.toHaveProperty('retry-after') // waiting would not help
    await press(page, 'Start over')
    await remaining(page, 10)
    await bar(page, 0.99, 1)
    expect(await marks(page, 'allowed')).toBe(0)
  })

  test('streams at the rate chosen until it is stopped', async () => {
    const { page, troubles } = await openDemo()
    await page.getByLabel('Stream rate').fill('20')
    await press(page, 'Start stream')
    await untilAnswered(page, 25)
    expect(await count(page, 'denied')).toBeGreaterThan(0)
    await press(page, 'Stop stream')
    await remaining(page, 2) // the stream would have taken them
    expect(troubles).toEqual([])
  })

  async function comesBack(policy: string): Promise<void> {
    const { page, troubles } = await openDemo()
    await page.getByRole('radio', { name: policy }).check()
    for (let i = 0; i < 3; i++) await press(page, 'Send ten') // more than two windows let through
    await untilAnswered(page, 30)
    expect(await count(page, 'denied')).toBeGreaterThan(0)
    await remaining(page, 10)
    expect(troubles).toEqual([])
  }

  describe('denies, and brings its quota back', () => {
    testTogether(['Sliding window', 'Fixed window'].map((policy) => [policy, () => comesBack(policy)]))
    afterAll(cleanUp)
  })
})

test('a costly request is denied where a cheap one still goes through', async () => {
  const { page, troubles } = await openDemo({}, memoryStore({ clock: () => 1_800_000_000_000 }))
  const get = (path: string) => pressFor(page, `GET ${path}`, path)
  for (let i = 0; i < 3; i++) expect(await get('/api/report')).toBe(200)
  expect(await get('/api/time')).toBe(200)
  expect(await get('/api/report')).toBe(429)
  await status(page, '#api-response', '429 Too Many Requests')
  const headers = { 'x-ratelimit-remaining': '4', 'retry-after': '1' }
  expect(await headersIn(page, '#api-response')).toMatchObject(headers)
  expect(await get('/api/time')).toBe(200)
  expect(troubles).toEqual([])
})

describe('the login', () => {
  async function logIn(page: Page, username: string, password: string): Promise<number> {
    await page.getByLabel('User name').fill(username)
    await page.getByLabel('Password').fill(password)
    return pressFor(page, 'Log in', '/login')
  }

  const lastAttempt = (page: Page, text: string) =>
    page.locator('#attempts li:first-child', { hasText: text }).waitFor()

  test('counts failures only, and then keeps even the right password out for a while', async () => {
    let nowMs = 1_800_000_000_000
    const { page, troubles } = await openDemo({}, memoryStore({ clock: () => nowMs }))
    for (let i = 0; i < 5; i++) expect(await logIn(page, 'ada', 'analytical')).toBe(200)
    await lastAttempt(page, 'Welcome, Ada. Not counted.')
    for (let i = 0; i < 3; i++) expect(await logIn(page, 'ada', 'wrong')).toBe(401)
    await lastAttempt(page, 'Counted: 0 tries left.')
    expect(await logIn(page, 'ada', 'analytical')).toBe(429)
    await lastAttempt(page, 'Denied before the password was checked. Try again in')
    await status(page, '#login-response', '429 Too Many Requests')
    const { ratelimit } = await headersIn(page, '#login-response')
    expect(ratelimit).toMatch(/^"ip";r=7;t=\d+, "account";r=0;t=\d+$/)
    nowMs += 25_000
    expect(await logIn(page, 'ada', 'analytical')).toBe(200)
    expect(troubles).toEqual([])
  })

  test('limits an address that tries many names', async () => {
    const { page } = await openDemo({}, memoryStore({ clock: () => 1_800_000_000_000 }))
    for (let i = 0; i < 10; i++) expect(await logIn(page, `guess-${i}`, 'wrong')).toBe(401)
    expect(await logIn(page, 'ada', 'analytical')).toBe(429)
  })
})

describe('the page', () => {
  test('fits a phone of 360 pixels, however long the answers are', async () => {
    const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
    const { page, troubles } = await openDemo(phone)
    await press(page, 'Send one')
    await press(page, 'GET /api/time')
    await status(page, '#play-response', '200 OK')
    await status(page, '#api-response', '200 OK')
    expect(await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')).toEqual([360, 360])
    expect(troubles).toEqual([])
  })

  test.each([
    ['light', 'rgb(243, 245, 247)'],
    ['dark', 'rgb(12, 17, 22)'],
  ] as const)('is %s where the system is', async (colorScheme, paper) => {
    const { page, troubles } = await openDemo({ colorScheme })
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(paper)
    expect(troubles).toEqual([])
  })

  test('works by keyboard alone, with a focus that can be seen', async () => {
    const { page } = await openDemo({ reducedMotion: 'reduce' })
    await page.getByRole('radio', { name: 'Token bucket' }).focus()
    await page.keyboard.press('ArrowDown')
    expect(await page.getByRole('radio', { name: 'Sliding window' }).isChecked()).toBe(true)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
    await page.keyboard.press('Enter')
    await status(page, '#play-response', '200 OK')
    expect((await headersIn(page, '#play-response')).ratelimit).toMatch(/^"sliding-window";r=9;/)
  })
})

describe('npm start', () => {
  let bundled: Bundle

  beforeAll(async () => {
    bundled = await bundleDemo()
  })

  afterAll(() => bundled?.remove())

  function start(PORT: string, program?: Bundle) {
    const demo = startDemo({ PORT }, program)
    cleanups.push(() => demo.stop('SIGKILL'))
    return demo
  }

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'prints its address and a curl line, and %s stops it',
    async (signal) => {
      const demo = start('0')
      const url = await demo.listening()
      expect(demo.printed.out).toContain(`curl -s -o /dev/null -w '%{http_code}\\n' '${url}/api/time?[1-25]'`)
      expect((await fetch(`${url}/api/time?1`)).status).toBe(200)
      expect(await demo.stop(signal)).toBe(0)
      expect(demo.printed.err).toBe('')
    },
  )

  test('says what to do when its port is in use', async () => {
    const other = createServer().listen(0)
    cleanups.push(() => other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const { ended, printed } = start(String(port), bundled)
    expect(await ended).toBe(1)
    expect(printed.err).toBe(`Port ${port} is in use. Choose another one: PORT=3001 npm start\n`)
  })

  test.each(['http', '65536', '-1', '3000.5', '0x50'])('refuses PORT=%s', async (value) => {
    const { ended, printed } = start(value, bundled)
    expect(await ended).toBe(1)
    const must = 'PORT must be a whole number from 0 to 65535 (0 = any free port)'
    expect(printed.err).toBe(`${must}, got "${value}".\n`)
  })
})
