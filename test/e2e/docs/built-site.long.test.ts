import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { until } from '../../support/servers/wait.js'
import { useSite } from './built-site.js'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const axe = readFile(require.resolve('axe-core/axe.min.js'), 'utf8')

const site = useSite()

/** Returns what axe finds, one line each, but in the search button, which is VitePress's. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(await axe)
  return page.evaluate(`axe.run({ exclude: ['.DocSearch-Button'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`)
}

const lane = (page: Page, title: string) =>
  page.locator('.policy-demo .lane', { has: page.getByRole('heading', { name: title }) })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Opens the home page with the policies in view. */
async function openPolicies(options = {}) {
  const opened = await site.open('', options)
  await opened.page.locator('.policy-demo').scrollIntoViewIfNeeded()
  return opened
}

describe('the home page', () => {
  test.each([
    ['a wide screen', {}],
    ['a phone', PHONE],
  ])('has no fault that axe finds, and scrolls only down, on %s', async (_, options) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, troubles } = await site.open('', { ...options, colorScheme, reducedMotion: 'reduce' })
      expect(await findings(page)).toEqual([])
      const width = page.viewportSize()?.width
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(troubles).toEqual([])
      await page.close()
    }
  })

  test('begins with what to do first, and the command and the code are in the first view', async () => {
    const { page } = await site.open('')
    const links = await page
      .locator('.hero-words p a')
      .evaluateAll((found) =>
        found.map((link) => new URL((link as unknown as { href: string }).href).pathname),
      )
    expect(links.slice(0, 2)).toEqual(['/headgate/getting-started', '/headgate/migrating/'])
    for (const selector of [
      '.hero-words .language-sh',
      '.hero-code .language-ts',
      '.hero-code .language-http',
    ]) {
      const box = await page.locator(selector).boundingBox()
      expect((box?.y ?? 900) + (box?.height ?? 0)).toBeLessThan(900)
    }
    await page.close()
  })

  test('moves nothing while it loads', async () => {
    const { page } = await site.open('', PHONE)
    await page.locator('.picture').scrollIntoViewIfNeeded()
    await page.waitForTimeout(1500)
    const shift = `new Promise((done) => new PerformanceObserver((list) =>
      done(list.getEntries().reduce((sum, { value }) => sum + value, 0))).observe({ type: 'layout-shift', buffered: true }))`
    const none = new Promise((done) => setTimeout(done, 1000, 0)) // there are no entries
    expect(await Promise.race([page.evaluate(shift), none])).toBeLessThan(0.02)
    await page.close()
  })
})

describe('the policies on the home page', () => {
  test('are sent ten requests by the keyboard, and say what became of them', async () => {
    const { page } = await openPolicies()
    await page.waitForTimeout(10_500) // what they opened with has been given back
    await button(page, 'Send 10').focus()
    await page.keyboard.press('Enter')
    const status = page.locator('.policy-demo [role=status]')
    await status
      .filter({ hasText: /Allowed: Token bucket \d+ of 10, .*, Fixed window \d+ of 10\./ })
      .waitFor()
    await lane(page, 'Sliding log').getByText('0 of 10 left').waitFor()
    await page.close()
  })

  test('count down to a retry, at which a request is allowed', async () => {
    const { page } = await openPolicies()
    await button(page, 'Send 10').click()
    const log = lane(page, 'Sliding log')
    const secondsLeft = async () => Number(/retry in ([\d.]+) s/.exec((await log.textContent()) ?? '')?.[1])
    await until('a retry time is there', async () => (await secondsLeft()) > 0)
    const before = await secondsLeft()
    await until('it counts down', async () => (await secondsLeft()) < before - 1)
    await until('the next one is allowed', async () =>
      ((await log.textContent()) ?? '').includes('next one allowed'),
    )
    await page.close()
  })

  const sentTo = async (page: Page) =>
    Number(
      /of (\d+) requests/.exec(
        (await lane(page, 'Token bucket').locator('svg').getAttribute('aria-label')) ?? '',
      )?.[1],
    )

  test('get a stream at the chosen rate, which pauses on demand and out of view', async () => {
    const { page, troubles } = await openPolicies()
    await page.getByRole('slider', { name: 'Requests per second' }).fill('20')
    await button(page, 'Stream').click()
    const isBusy = async () => {
      const before = await sentTo(page)
      await page.waitForTimeout(700)
      return (await sentTo(page)) > before
    }
    await until('requests are sent', isBusy)
    await button(page, 'Pause').click()
    expect(await isBusy()).toBe(false)
    await button(page, 'Continue').click()
    await until('requests are sent again', isBusy)
    await page.evaluate('scrollTo(0, 0)')
    await page.waitForTimeout(300)
    expect(await isBusy()).toBe(false)
    await page.locator('.policy-demo').scrollIntoViewIfNeeded()
    await until('requests are sent again', isBusy)
    await button(page, 'Stop stream').click()
    expect(troubles).toEqual([])
    await page.close()
  })

  test('are drawn often, but twice a second for readers who prefer reduced motion', async () => {
    const changes = async (reducedMotion: 'reduce' | 'no-preference') => {
      const { page } = await openPolicies({ reducedMotion })
      await button(page, 'Send 1').click()
      const count = await page.evaluate(`new Promise((done) => {
        let count = 0
        const observer = new MutationObserver(() => count++)
        observer.observe(document.querySelector('.policy-demo .strip .allowed'), { attributes: true })
        setTimeout(() => done(count), 2000)
      })`)
      await page.close()
      return count as number
    }
    expect(await changes('reduce')).toBeLessThanOrEqual(5)
    expect(await changes('no-preference')).toBeGreaterThan(15)
  })
})

test('no page is wider than a phone: what is too wide scrolls in its own box', async () => {
  const { page } = await site.open('', PHONE)
  const guides = site.pages().filter((path) => !path.startsWith('api/') && path !== '404.html')
  expect(guides.length).toBeGreaterThan(40)
  const wide: unknown[] = []
  for (const path of guides) {
    await page.goto(new URL(path, page.url()).href)
    const width = await page.evaluate('document.documentElement.scrollWidth')
    if (width !== PHONE.viewport.width) wide.push([path, width])
    await page.goBack()
  }
  expect(wide).toEqual([])
  await page.close()
})

test('pictures are those of the chosen theme, whatever the system prefers', async () => {
  const { page } = await site.open('', { colorScheme: 'light' })
  const shown = () =>
    page.locator('.picture img:visible').evaluateAll((images) => images.map(({ className }) => className))
  expect(await shown()).toEqual(['only-light'])
  await page.locator('.VPNavBarAppearance button').click()
  expect(await shown()).toEqual(['only-dark'])
  await page.close()
})

test('each page has a title, words and a picture for previews of links to it', async () => {
  const contents = (html: string) =>
    new Map(
      [...html.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)"/g)].map(([, name, text]) => [
        name,
        text,
      ]),
    )
  const pages = site.pages().filter((path) => path !== '404.html')
  for (const path of pages) {
    const tags = contents(site.read(path))
    expect([path, tags.get('og:title')]).toEqual([path, expect.stringContaining('headgate')])
    expect((tags.get('og:description') ?? '').length).toBeGreaterThan(20)
    expect(tags.get('og:image')).toBe('https://headgate.github.io/headgate/link-preview.png')
    expect(tags.get('twitter:card')).toBe('summary_large_image')
    expect(tags.get('og:url')).not.toMatch(/\.(md|html)$|index$/)
  }
  const login = contents(site.read('login.html'))
  expect(login.get('og:title')).toMatch(/login \| headgate$/)
  expect(login.get('og:description')).toBe(login.get('description'))
})
