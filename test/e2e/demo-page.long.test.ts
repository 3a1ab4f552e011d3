import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { testTogether } from '../support/servers/together.js'
import { until } from '../support/servers/wait.js'
import { type OpenDemo, untilSent, useDemos } from './demo-page.js'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const axe = readFile(require.resolve('axe-core/axe.min.js'), 'utf8')

const { open, onPage } = useDemos()

/** Returns what axe finds, one line each. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(await axe)
  return page.evaluate(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`)
}

describe('the first view', () => {
  test.each([
    ['a wide screen', {}],
    ['a phone', PHONE],
  ])('has code and response above the fold of %s, and axe finds nothing', async (_, options) => {
    const { page, troubles } = await open({ ...options, colorScheme: 'light', reducedMotion: 'reduce' })
    await page.locator('#policy-answer .status', { hasText: 'HTTP/1.1 200 OK' }).waitFor()
    await page.locator('#policy-code code', { hasText: 'tokenBucket' }).waitFor()
    const { height, width } = page.viewportSize() as { width: number; height: number }
    for (const selector of ['#policy-code pre', '#policy-answer .about-limits:nth-child(2)']) {
      const box = await page.locator(selector).boundingBox()
      expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThanOrEqual(height)
    }
    expect(await page.evaluate('[scrollY, document.documentElement.scrollWidth]')).toEqual([0, width])
    expect(await findings(page)).toEqual([])
    const paper = 'getComputedStyle(document.body).backgroundColor'
    expect(await page.evaluate(paper)).toBe('rgb(245, 246, 248)')
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    expect(await page.evaluate(paper)).toBe('rgb(13, 18, 23)')
    expect(await findings(page)).toEqual([])
    expect(troubles).toEqual([])
  })

  test('shows the code and the response of the policy that is picked, by keyboard alone', async () => {
    const { page } = await open({ reducedMotion: 'reduce' })
    await page.getByRole('radio', { name: 'Token bucket' }).focus()
    await page.keyboard.press('ArrowDown')
    const outline = `getComputedStyle(document.querySelector('.lane:has(input:checked)')).outlineStyle`
    expect(await page.evaluate(outline)).toBe('solid')
    await page.locator('#policy-code code', { hasText: 'slidingWindow({ limit: 10' }).waitFor()
    await page.locator('#policy-answer', { hasText: /ratelimit"sliding-window";r=\d+;t=\d+/ }).waitFor()
  })

  test('sends a burst on both sides of a border of the clock’s windows', async () => {
    const { page } = await open()
    const times = `import('/patterns.js').then(({ PATTERNS }) => {
      const times = PATTERNS.border.times(0, 500)
      return Array.from({ length: 20 }, () => Math.round(times.next().value))
    })`
    const sent = (await page.evaluate(times)) as number[]
    expect(sent.filter((ms) => ms > 9500 && ms < 10_500)).toHaveLength(10) // the border at 500 is too close
    expect(sent.filter((ms) => ms > 10_500 && ms < 11_500)).toHaveLength(10)
  })
})

test('each copy button copies a program, with the code that the server runs', async () => {
  const { page, url } = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
  const snippets = (await (await fetch(`${url}code`)).json()) as Record<string, string>
  const programs = Object.values(snippets)
  async function copied(figure: string): Promise<string> {
    await page.locator(`${figure} code`, { hasNotText: 'Loading…' }).waitFor()
    await page.locator(`${figure} button`).click()
    await page.locator(`${figure} button`, { hasText: 'Copied' }).waitFor()
    return page.evaluate('navigator.clipboard.readText()')
  }
  for (const [figure, file, call] of [
    ['#policy-code', 'policies.ts', 'tokenBucket({'],
    ['#login-code', 'login.ts', 'loginGuard({'],
    ['#outage-code', 'outage.ts', "onStoreError: 'local'"],
  ] as const) {
    const code = await copied(figure)
    expect(code).toMatch(/^import .*\b\w+ } from 'headgate'$/m)
    expect(programs).toContain(code) // docs/code-blocks.test.ts runs each of them
    const source = await readFile(join(__dirname, '../../examples/demo', file), 'utf8')
    const [, body = ''] = /^const app = express\(\)\n(.+)^app\.listen\(/ms.exec(code) ?? []
    expect(body).toContain(call)
    const shown = source.replaceAll(/^.*\/\/ demo only\b.*\n/gm, '')
    expect(shown).toContain(body.replaceAll(/^(?=.)/gm, '  '))
  }
  expect(await copied('#terminal .code')).toBe(
    `curl -s -o /dev/null -w '%{http_code}\\n' '${url}api/time?[1-25]'`,
  )
})

/** Waits until no request has been sent for more than half a second: the page peeks each quarter. */
async function untilQuiet({ paths }: OpenDemo): Promise<void> {
  let before = -1
  const isQuiet = () => {
    const isSame = paths.length === before
    before = paths.length
    return isSame
  }
  await until('no request is sent', isQuiet, { everyMs: 600 })
}

/** Waits until more requests are sent. */
async function untilBusy({ paths }: OpenDemo): Promise<void> {
  const before = paths.length
  await until('requests are sent', () => paths.length > before + 3)
}

async function pauses(demo: OpenDemo): Promise<void> {
  const { page } = demo
  await untilSent(page, 1)
  await page.locator('#pause').click()
  await untilQuiet(demo)
  await page.locator('#pause').click()
  await untilBusy(demo)
  const hide = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`)
  await hide(true)
  await untilQuiet(demo)
  await hide(false)
  await untilBusy(demo)
}

async function ends(demo: OpenDemo): Promise<void> {
  const { page } = demo
  await untilSent(page, 1)
  await page.clock.fastForward('03:01')
  await page.locator('#policies [data-run-hint]', { hasText: 'Stopped after three minutes.' }).waitFor()
  await untilQuiet(demo)
  await page.locator('#policies').getByRole('button', { name: 'Continue' }).click()
  await untilBusy(demo)
}

async function reconnects(demo: OpenDemo): Promise<void> {
  const { page, stopServer, troubles } = demo
  await untilSent(page, 1)
  const startServer = await stopServer()
  await page.locator('#offline', { hasText: 'The server is not responding.' }).waitFor()
  await startServer()
  await page.locator('#offline').waitFor({ state: 'hidden' })
  await untilBusy(demo)
  expect(troubles).toEqual([])
}

testTogether(
  [
    ['the traffic pauses on demand and in a hidden tab, and goes on', onPage(pauses)],
    [
      'the traffic ends after three minutes, until somebody continues',
      onPage(ends, (page) => page.clock.install()),
    ],
    ['the page says that the server is gone, and goes on when it is back', onPage(reconnects)],
  ],
  { atOnce: 3 },
)
