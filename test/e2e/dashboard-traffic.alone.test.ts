import { card, figure, useDashboard } from './dashboard-page.js'

const { open, sendAs } = useDashboard()

test('traffic appears within two seconds, without a click', async () => {
  const { page, troubles } = await open()
  await figure(page, 'api', 'allowed a second').waitFor()
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
