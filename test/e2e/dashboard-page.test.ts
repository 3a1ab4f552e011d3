import { createLimiter, memoryStore, type Store } from 'headgate'
import { type Dashboard, dashboard as showDashboard } from 'headgate/dashboard'
import { customStore } from 'headgate/store'
import type { Page } from 'playwright-core'
import { closeServers, serve } from '../support/http.js'
import { bundleWithPage } from '../support/servers/bundle-with-page.js'
import { ON_NODE_HTTP } from './dashboard-mounts.js'
import {
  CREDENTIALS,
  detail,
  figure,
  findings,
  isLive,
  lookUp,
  PASSWORD,
  PHONE,
  row,
  takePicture,
  useDashboard,
  WIDE,
} from './dashboard-page.js'
import { startExample } from './examples/start-example.js'

const dashboard = useDashboard()
const { open, sendAs, logInAs } = dashboard

/** Presses a button, and confirms with a reason, for ten minutes if it is for a time. */
async function change(page: Page, button: string, verb: string): Promise<void> {
  await page.getByRole('button', { name: button }).click()
  const dialog = page.getByRole('dialog')
  if (verb.includes('10 minutes')) await dialog.locator('select').selectOption('10 minutes')
  await dialog.getByLabel('Reason').fill('ticket 7')
  await dialog.getByRole('button', { name: verb, exact: true }).click()
}

test('a client is blocked and released', async () => {
  const { page, troubles } = await open()
  expect(await logInAs('grace')).toBe(401)
  await lookUp(page, 'grace')
  await change(page, 'Block in login', 'Block for 10 minutes')
  await page
    .getByRole('status')
    .getByText(/^Blocked grace in login until (?:\d+ \w+, )?\d\d:\d\d\./)
    .waitFor()
  await page.locator('[data-found=login] tbody', { hasText: 'banned' }).waitFor()
  expect(await page.locator('[data-found=login] tbody').textContent()).toContain('banned for 10 min')
  expect(await logInAs('grace')).toBe(429)
  await takePicture(page, 'blocked')
  await change(page, 'Release in login', 'Release')
  await page.getByRole('status').getByText('Released grace in login.').waitFor()
  expect(await logInAs('grace')).toBe(401)
  expect(troubles).toEqual([])
})

test('without settings, a ban is listed and undone, and the page says how to change more', async () => {
  const { page, troubles } = await open()
  await lookUp(page, 'heidi')
  await change(page, 'Block in login', 'Block for 10 minutes')
  await page
    .getByRole('status')
    .getByText(/^Blocked heidi/)
    .waitFor()
  const [api, login] = ['api', 'login'].map((name) => page.locator(`[data-found=${name}] .bar`))
  expect(await api?.textContent()).toMatch(
    /^Release…This limiter has no ban, so .* add settings: sharedSettings\(store\) to the limiter's options\.$/,
  )
  expect(await login?.textContent()).toMatch(
    /^Release…Block…To exempt clients, raise limits or block networks/,
  )
  expect(await page.getByRole('button', { name: /^Raise/ }).count()).toBe(0)
  await page.getByRole('status').getByRole('link', { name: 'In force' }).click()
  await page.getByRole('button', { name: 'Undo the ban of heidi in login' }).click()
  await page
    .getByRole('status')
    .getByText(/^Undone: the ban of heidi(?: by .+)?, in login\.$/)
    .waitFor()
  expect(await page.getByRole('status').getByRole('button', { name: 'Undo' }).count()).toBe(0)
  expect(await logInAs('heidi')).toBe(401)
  expect(troubles).toEqual([])
})

test('whoever has no password sees nothing', async () => {
  for (const [path, method] of [
    ['', 'GET'],
    ['/', 'GET'],
    ['/main.js', 'GET'],
    ['/stream', 'GET'],
    ['/history', 'GET'],
    ['/log', 'GET'],
    ['/lookup', 'POST'],
  ]) {
    const response = await fetch(`${dashboard.example.url}/limits${path}`, { method: method as string })
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
  await isLive(page)
  const width = await page.evaluate('document.documentElement.scrollWidth')
  for (const identity of HOSTILE) {
    if (identity.length < 1000 && !identity.includes('\0')) await logInAs(identity)
    await lookUp(page, identity)
    const isPossible = identity.length <= 1024 && !identity.includes('\0')
    if (isPossible)
      await page.locator('#found .summary .identity', { hasText: identity.slice(1, 8) }).waitFor()
    else await page.locator('#found .problem', { hasText: 'identity must be 1 to 1024 characters' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    if (isPossible)
      expect(await page.locator('#found .summary .identity').textContent()).toBe(spelled(identity))
    await takePicture(page, `hostile-${HOSTILE.indexOf(identity)}-${name.replaceAll(' ', '-')}`)
  }
  expect(await page.locator('img[src=x], #found script').count()).toBe(0)
  expect(troubles.filter((text) => !text.includes('status of 400'))).toEqual([])
})

describe('axe', () => {
  test.each([
    ['a wide screen', WIDE],
    ['a phone', PHONE],
  ])('finds nothing in a limiter and a client on %s, in light and dark', async (name, options) => {
    await sendAs('seen', 25)
    for (let i = 0; i < 9; i++) await logInAs('eve')
    const { page, troubles } = await open({ ...options, colorScheme: 'light' }, '/#/limiter/login')
    await detail(page, 'login').locator('tr.client').first().waitFor()
    for (const view of ['limiter', 'client']) {
      if (view === 'client') {
        await lookUp(page, 'eve')
        await page.locator('[data-found=login] tbody').waitFor()
      }
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(page.viewportSize()?.width)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        expect(await findings(page)).toEqual([])
        await takePicture(page, `${view}-${name.replaceAll(' ', '-')}-${colorScheme}`)
      }
    }
    expect(troubles).toEqual([])
  })
})

describe('while a store is unavailable', () => {
  /** So many failures open a circuit breaker, however close together they are. */
  const DECISIONS = 20
  let isUp = false
  let mounted: Dashboard

  beforeEach(async () => {
    isUp = false
    const memory = memoryStore()
    const apply: Store['apply'] = async (operations) => {
      if (isUp) return memory.apply(operations)
      throw new Error('connection lost')
    }
    const make = (name: string, own: object) => {
      const limits = {
        name,
        limit: 8,
        window: '1m',
        store: customStore({ ...memory, name: 'redis', apply }),
      } as const
      const limiter = createLimiter<string>({ ...limits, key: (id) => id, ...own })
      limiter.events.on('storeError', () => undefined)
      return limiter
    }
    const limiters = [
      make('api', { onStoreError: 'local', fallbackShare: 1 / 4 }),
      make('search', {}),
      make('login', { onStoreError: 'deny' }),
      make('mail', { onStoreError: () => 'allow' }),
    ]
    mounted = showDashboard({ limiters, authorize: () => true })
    for (const limiter of limiters) for (let i = 0; i < DECISIONS; i++) await limiter.charge('ada')
  })
  afterEach(async () => {
    mounted.close()
    await closeServers()
  })

  test('one banner says which, since when, what requests get, and how many decisions it missed', async () => {
    const { port } = await serve(ON_NODE_HTTP.serve(mounted))
    const page = await dashboard.browser.newPage()
    dashboard.closeAfterTest(() => page.close())
    await page.goto(`http://127.0.0.1:${port}/limits/`)
    const headline = page.locator('[data-headlines] > [data-headline=store-outage]')
    const text =
      /^redis has not replied since (?:\d+ \w+, )?\d\d:\d\d: 4 limiters are affected, 80 decisions without it/
    await headline.getByText(text).waitFor()
    expect(await headline.locator('.effects li').allTextContents()).toEqual([
      'api: each process counts on its own, and allows 25% of each limit.',
      'search: each process counts on its own, and allows each limit in full.',
      'login: all requests are denied.',
      'mail: the function onStoreError decides each request.',
    ])
    expect(await row(page, 'mail').locator('.sentence').textContent()).toBe(
      'the function onStoreError decides each request',
    )
    expect(await page.getByRole('alert').textContent()).toMatch(
      /^redis has been unavailable since \d\d:\d\d:\d\d\.$/,
    )
    expect(await page.title()).toBe('(4) Rate limits')
    expect(await findings(page)).toEqual([])
    await takePicture(page, 'outage')
    await row(page, 'api').getByRole('link').click()
    const banner = page.locator('#outages')
    await banner.getByText(text).waitFor()
    const rows = detail(page, 'api').getByRole('group', { name: 'Limits, last minute' }).locator('tbody tr')
    await rows.first().waitFor()
    expect(await rows.allTextContents()).toEqual([
      'api local limit2 per 1 min, token bucket218100%',
      'api8 per 1 min, token bucket000%',
    ])
    expect(await figure(page, 'api', 'store').textContent()).toBe('redis, unavailable')
    expect(await detail(page, 'api').locator('rect.outage').count()).toBe(1)
    isUp = true
    await banner.waitFor({ state: 'hidden' }) // though no request comes
    await figure(page, 'api', 'store').getByText('redis, up').waitFor()
    expect(await page.title()).not.toContain('4')
  })
})

test('a page whose server is gone says since when its figures are out of date', async () => {
  const own = await startExample('examples/dashboard.ts', { TRAFFIC: 'off', PASSWORD }, bundleWithPage)
  const context = await dashboard.browser.newContext({ httpCredentials: CREDENTIALS })
  dashboard.closeAfterTest(() => context.close())
  const page = await context.newPage()
  await page.goto(`${own.url}/limits/`)
  await isLive(page)
  expect(await own.stop()).toBe(0) // though the page is open
  const status = page.locator('#connection', { hasText: /^Disconnected since \d\d:\d\d:\d\d/ })
  await status.waitFor()
})
