import { until } from '../support/servers/wait.js'
import { card, figure, useDashboard } from './dashboard-page.js'

const { open, sendAs } = useDashboard()

test('traffic appears within two seconds, without a click', async () => {
  const { page, troubles } = await open()
  await figure(page, 'api', 'allowed per second').waitFor()
  await page.locator('#connection', { hasText: 'Live' }).waitFor()
  const sentAtMs = performance.now()
  expect(await sendAs('visible', 22)).toEqual([...Array(20).fill(200), 429, 429])
  await card(page, 'api').locator('.number', { hasText: /^2$/ }).first().waitFor()
  await figure(page, 'api', 'denied').getByText('9 %').waitFor()
  expect(performance.now() - sentAtMs).toBeLessThan(2000)
  expect(await figure(page, 'api', 'store').textContent()).toBe('memory, up')
  expect(await page.locator('.uplot canvas').count()).toBe(2)
  expect(troubles).toEqual([])
})

test('a limited client is found, released by keyboard alone, and let in again', async () => {
  const { page, troubles } = await open()
  await page.locator('body').press('Tab') // to the link over the page
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.id')).toBe('identity')
  await page.keyboard.type('ada')
  await until('ada is limited', async () => (await sendAs('ada', 1))[0] === 429) // for half a second
  await page.keyboard.press('Enter')
  await page.locator('#found', { hasText: 'Limited: ada' }).waitFor()
  const found = page.locator('[data-found=api]')
  expect(await found.locator('tbody').textContent()).toMatch(/^api.*0 of 20used up; more in /)
  await page.getByRole('button', { name: 'Look up', exact: true }).focus()
  const isOnRelease = `document.activeElement.textContent === 'Release'`
  for (let i = 0; i < 5 && !(await page.evaluate(isOnRelease)); i++) await page.keyboard.press('Tab')
  expect(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('solid')
  await page.keyboard.press('Enter')
  await page.locator('#found', { hasText: 'Released ada in api.' }).waitFor()
  expect(await page.evaluate('document.activeElement.className')).toBe('summary')
  expect(await sendAs('ada', 1)).toEqual([200])
  expect(troubles).toEqual([])
})

test('the focus and the scrolling of a list stay as its figures change', async () => {
  const { page } = await open()
  // All at once: units come back while requests wait for one another.
  const clients = Array.from({ length: 20 }, (_, i) => `scrolled-${i}`)
  await Promise.all(clients.flatMap((client) => Array.from({ length: 17 }, () => sendAs(client, 1))))
  const list = card(page, 'api').getByRole('group', { name: 'Clients near a limit' })
  await list.locator('tr').nth(19).waitFor()
  await list.focus()
  await list.evaluate((element) => element.scrollTo(0, 50))
  const before = await list.locator('tbody').textContent()
  await sendAs('scrolled-3', 10) // uses up what is left
  await until('the list has changed', async () => (await list.locator('tbody').textContent()) !== before)
  expect(await list.evaluate((element) => element.scrollTop)).toBe(50)
  expect(await page.evaluate(`document.activeElement.getAttribute('aria-label')`)).toBe(
    'Clients near a limit',
  )
  const client = list.locator('button').nth(4)
  const name = await client.textContent()
  await client.focus()
  const then = await list.locator('tbody').textContent()
  await sendAs('scrolled-4', 10)
  await until('the list has changed', async () => (await list.locator('tbody').textContent()) !== then)
  expect(await page.evaluate('document.activeElement.textContent')).toBe(name)
  await page.keyboard.press('Enter')
  await page.locator('#found .summary', { hasText: name as string }).waitFor()
})
