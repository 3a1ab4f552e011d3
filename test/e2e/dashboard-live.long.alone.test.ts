import { until } from '../support/servers/wait.js'
import { detail, figure, isLive, row, useDashboard } from './dashboard-page.js'

const { open, sendAs, logInAs } = useDashboard()

test('traffic appears within two seconds, without a click', async () => {
  const { page, troubles } = await open()
  await row(page, 'api').waitFor()
  await isLive(page)
  const sentAtMs = performance.now()
  expect(await sendAs('visible', 22)).toEqual([...Array(20).fill(200), 429, 429])
  await row(page, 'api').locator('.number').getByText('9%').waitFor()
  expect(performance.now() - sentAtMs).toBeLessThan(2000)
  await row(page, 'api').getByRole('link').click()
  await figure(page, 'api', 'denied').getByText('9%').waitFor()
  expect(await figure(page, 'api', 'store').textContent()).toBe('memory, up')
  expect(await detail(page, 'api').locator('svg.traffic').count()).toBe(1)
  expect(troubles).toEqual([])
})

test('a limited client is found, released by keyboard alone, and let in again', async () => {
  const { page, troubles } = await open({}, '/#/client')
  await isLive(page)
  await page.keyboard.press('/')
  expect(await page.evaluate('document.activeElement.id')).toBe('identity')
  await page.keyboard.type('ada')
  for (let i = 0; i < 5; i++) expect(await logInAs('ada')).toBe(401)
  expect(await logInAs('ada')).toBe(429) // for a minute
  await page.keyboard.press('Enter')
  await page
    .locator('#found')
    .getByText(/^Limited: ada/)
    .waitFor()
  const found = page.locator('[data-found=login]')
  expect(await found.locator('tbody').textContent()).toMatch(/^login.*0 of 5used up; more in /)
  await page.getByRole('button', { name: 'Look up', exact: true }).focus()
  const isOnRelease = `document.activeElement.matches('[data-found=login] button') && document.activeElement.textContent === 'Release…'`
  for (let i = 0; i < 9 && !(await page.evaluate(isOnRelease)); i++) await page.keyboard.press('Tab')
  expect(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('solid')
  await page.keyboard.press('Enter')
  await page.keyboard.type('ticket 7') // the dialog has the focus on its reason
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('Released ada in login.').waitFor()
  await page.locator('.summary:focus').waitFor()
  expect(await logInAs('ada')).toBe(401)
  expect(troubles).toEqual([])
})

test('the focus and the scrolling stay where they are as the figures of a list change', async () => {
  const { page } = await open({}, '/#/limiter/api')
  // All at once: units come back while requests wait for one another.
  const clients = Array.from({ length: 20 }, (_, i) => `scrolled-${i}`)
  await Promise.all(clients.flatMap((client) => Array.from({ length: 25 }, () => sendAs(client, 1))))
  const rows = detail(page, 'api').locator('tr.client')
  await rows.nth(19).waitFor()
  const link = rows.nth(4).getByRole('link')
  const name = await link.textContent()
  await link.focus()
  await page.evaluate('scrollTo(0, 50)')
  const deniedOf = () => rows.nth(4).locator('.denied b').textContent()
  const before = await deniedOf()
  await until('it is denied more often', async () => {
    await Promise.all(clients.map((client, i) => sendAs(client, 20 + i))) // the others change places with it
    return (await deniedOf()) !== before
  })
  expect(await page.evaluate('scrollY')).toBe(50)
  expect(await page.evaluate('document.activeElement.textContent')).toBe(name)
  expect(await rows.nth(4).getByRole('link').textContent()).toBe(name)
  await page.keyboard.press('Enter')
  await page.locator('#found .summary', { hasText: name as string }).waitFor()
})
