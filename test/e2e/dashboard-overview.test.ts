import type { Page } from 'playwright-core'
import type { Finding, OverviewRow } from '../../src/dashboard/figures/shown.js'
import { until } from '../support/servers/wait.js'
import { row as calmRow, givenFigures } from '../unit/dashboard/server/page-figures.js'
import { detail, row } from './dashboard-page.js'
import { useScenes } from './dashboard-scene.js'

const open = useScenes()

const namesOf = (page: Page) => page.locator('[data-limiter] .name').allTextContents()

test('the worst limiter comes first, with what is wrong, whom it hurts, since when and why', async () => {
  const { page, troubles } = await open('incident')
  await row(page, 'login').waitFor()
  expect((await namesOf(page)).slice(0, 5)).toEqual(['login', 'search', 'graphql', 'partner-api', 'admin'])
  const headlines = page.locator('[data-headlines] > [data-headline]')
  expect(await headlines.evaluateAll((all) => all.map((each) => each.getAttribute('data-headline')))).toEqual(
    ['account-attacked', 'network-denied', 'network-denied', 'few-denied'],
  )
  expect(await headlines.first().textContent()).toMatch(
    /^loginmaria\.keller@example\.com has been under attack since (?:\d+ \w+, )?\d\d:\d\d: 9\.8 denials a second from 212 addresses in 203\.0\.113\.0\/24 and 198\.51\.100\.0\/24, all on POST/,
  )
  expect(await row(page, 'login').locator('.sentence').textContent()).toMatch(
    /^POST \/login · 203\.0\.113\.0\/24/,
  )
  expect(await page.title()).toBe('(4) Rate limits')
  expect(troubles).toEqual([])
})

test('limiters are filtered by state and text, and each view has its address, also for the back button', async () => {
  const { page } = await open('incident')
  await page.getByRole('link', { name: '2 critical' }).click()
  await until('two are left', async () => (await namesOf(page)).length === 2)
  expect(page.url()).toMatch(/#\/\?state=critical$/)
  await page.getByLabel('Filter limiters').fill('account')
  await page.getByText('No limiter matches.').waitFor()
  await page.getByLabel('Filter limiters').fill('maria')
  await until('one is left', async () => (await namesOf(page)).join() === 'login')
  expect(page.url()).toMatch(/#\/\?state=critical&q=maria$/)
  await row(page, 'login').getByRole('link').click()
  await detail(page, 'login').waitFor()
  expect(page.url()).toMatch(/#\/limiter\/login$/)
  await page.goBack()
  await until('the filter is back', async () => (await namesOf(page)).join() === 'login')
  await page.goForward()
  await page.reload()
  await detail(page, 'login').waitFor()
})

test('a row without a headline offers what its finding needs, by pointer, keyboard and touch, and nothing moves', async () => {
  const { page } = await open('many')
  const offering = page.locator('[data-limiter]:has(.bar button)')
  await offering.first().waitFor()
  expect(await offering.count()).toBe(3) // five of eight have headlines
  const last = offering.last()
  const bar = last.locator('.bar')
  const look = async () => [
    await bar.evaluate((element) => getComputedStyle(element).opacity),
    JSON.stringify(await last.boundingBox()),
    JSON.stringify(await last.locator('.title').boundingBox()),
    JSON.stringify(await last.locator('.sparkline').boundingBox()),
  ]
  await last.scrollIntoViewIfNeeded()
  const [, ...places] = await look()
  await last.locator('.name').hover()
  await until('it shows', async () => (await look())[0] === '1')
  expect(await look()).toEqual(['1', ...places])
  await page.mouse.move(0, 0)
  await until('it hides', async () => (await look())[0] === '0')
  await last.locator('.name').focus()
  await page.keyboard.press('Tab')
  expect(await look()).toEqual(['1', ...places])
  await page.keyboard.press('Enter')
  const name = await last.getAttribute('data-limiter')
  await page.getByRole('dialog', { name: `Block 203.0.113.0/24 in ${name}` }).waitFor()
})

test('the keyboard reaches everything', async () => {
  const { page } = await open('incident')
  await row(page, 'login').waitFor()
  const focused = () => page.evaluate('document.activeElement.textContent')
  for (const [key, name] of [
    ['j', 'login'],
    ['j', 'search'],
    ['k', 'login'],
    ['k', 'login'],
  ] as const) {
    await page.keyboard.press(key)
    expect(await focused()).toBe(name)
  }
  await page.keyboard.press('Enter')
  await detail(page, 'login').locator('tr.client').waitFor()
  expect(await focused()).toBe('login') // the heading
  await page.keyboard.press('j')
  expect(await focused()).toBe('maria.keller@example.com')
  await page.keyboard.press('x')
  await page.getByText('1 client selected').waitFor()
  await page.keyboard.press('Escape')
  await row(page, 'search').waitFor()
  expect(await page.evaluate('document.activeElement.closest("[data-limiter]")?.dataset.limiter')).toBe(
    'login',
  )
  await page.keyboard.press('/')
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Filter limiters')
  await page.keyboard.type('j?')
  expect(await page.getByLabel('Filter limiters').inputValue()).toBe('j?')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
})

test('no row moves under the pointer, for other rows or a headline, while its figures go on', async () => {
  const figures = givenFigures()
  const finding: Finding = {
    kind: 'many-denied',
    level: 'critical',
    sentence: 'it burns',
    identities: [],
    networks: [],
    routes: [],
  }
  const rows = (burning?: string): OverviewRow[] =>
    ['a', 'b', 'c'].map((name, i) => (name === burning ? { ...calmRow(name, 7), finding } : calmRow(name, i)))
  figures.shown.rows = rows()
  const { page } = await open(figures)
  await row(page, 'b').hover()
  figures.shown.rows = rows('c')
  await row(page, 'c').getByText('it burns').waitFor()
  expect(await row(page, 'c').locator('.number').first().textContent()).toContain('7')
  expect(await namesOf(page)).toEqual(['a', 'b', 'c'])
  await page.getByText('Order kept while you read').waitFor()
  expect(await page.locator('[data-headline]').count()).toBe(0)
  await page.mouse.move(5, 5)
  await until('the worst is first', async () => (await namesOf(page)).join() === 'c,a,b')
  await page.locator('[data-headline]', { hasText: 'it burns' }).waitFor()
})
