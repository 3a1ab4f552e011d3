import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { textOf, untilSent, useDemos } from './demo-page.js'

jest.setTimeout(60_000)

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const LANES = ['token-bucket', 'sliding-window', 'fixed-window', 'first-request', 'ban']
const axe = readFile(require.resolve('axe-core/axe.min.js'), 'utf8')

const open = useDemos()

/** Returns what axe finds, one line each. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(await axe)
  return page.evaluate(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`)
}

describe('the first view', () => {
  test('is alive within two seconds, without a click', async () => {
    const { page, troubles } = await open()
    expect(await (await untilSent(page, 1)).jsonValue()).toBeLessThan(2000)
    expect(await page.locator('[data-lane]').count()).toBe(LANES.length)
    await untilSent(page, 11) // a burst of eight, and some of the next
    await page
      .locator('[data-lane=sliding-window].is-empty [data-next]', { hasText: /^retry in \d/ })
      .waitFor()
    expect(await textOf(page, '[data-lane=sliding-window] [data-allowed]')).toBe('10')
    await page.locator('[data-lane=sliding-window] path.denied[d^=M]').waitFor({ state: 'attached' })
    expect(troubles).toEqual([])
  })

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
    expect(programs).toContain(code) // demo-code.test.ts runs each of them
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
