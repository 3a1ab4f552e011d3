import { detail } from './dashboard-page.js'
import { useScenes } from './dashboard-scene.js'

const open = useScenes()

test('several clients are released at once, in the name of the operator', async () => {
  const { page, sent, troubles } = await open('incident', { address: '#/limiter/search' })
  await page.getByLabel('Select 198.51.100.10', { exact: true }).check()
  await page.getByLabel('Select 198.51.100.12', { exact: true }).check()
  await page.getByText('2 clients selected').waitFor()
  await page.getByRole('button', { name: 'Release' }).click()
  await page.getByText('Released 2 clients in search.').waitFor()
  expect(sent).toEqual(
    ['198.51.100.10', '198.51.100.12'].map((identity) => [
      'release',
      { limiter: 'search', identity, by: 'ines' },
    ]),
  )
  expect(await page.getByText(/selected$/).isVisible()).toBe(false)
  await page.locator('.panel .event', { hasText: 'release 198.51.100.12' }).waitFor()
  expect(troubles).toEqual([])
})

test('the clients of a network are found by a click, and selected together', async () => {
  const { page } = await open('incident', { address: '#/limiter/graphql' })
  const view = detail(page, 'graphql')
  await view.getByText('184 clients').waitFor()
  await view.getByRole('button', { name: '192.0.2.0/24' }).first().click()
  await view.getByText('92 clients found').waitFor()
  expect(page.url()).toMatch(/#\/limiter\/graphql\?q=192\.0\.2\.0%2F24$/)
  await page.getByLabel('Select all listed clients').check()
  await page.getByText('92 clients selected').waitFor()
})

test('whoever may only see has no buttons that change anything', async () => {
  const { page } = await open('incident', { address: '#/limiter/search', access: 'view' })
  await page.getByLabel('Select 198.51.100.10', { exact: true }).check()
  await page.getByRole('button', { name: 'Copy' }).waitFor()
  expect(await page.getByRole('button', { name: /Release|Block/ }).count()).toBe(0)
})

test('a name is asked for once, where the server knows none', async () => {
  const { page, sent } = await open('incident', { address: '#/limiter/login', operator: '' })
  const release = async (dialog: 'answer' | 'cancel' | 'none') => {
    await page.getByLabel('Select maria.keller@example.com').check()
    await page.getByRole('button', { name: 'Release' }).click()
    if (dialog === 'cancel') await page.getByRole('button', { name: 'Cancel' }).click()
    if (dialog === 'answer') {
      await page.getByLabel('Your name').fill(' ada ')
      await page.getByRole('button', { name: 'Continue' }).click()
    }
  }
  await release('cancel')
  expect(sent).toEqual([])
  for (const dialog of ['answer', 'none'] as const) {
    await release(dialog)
    await page.getByText('Released 1 client in login.').waitFor()
    await page.getByText('1 client selected').waitFor({ state: 'hidden' })
  }
  const body = { limiter: 'login', identity: 'maria.keller@example.com', by: 'ada' }
  expect(sent).toEqual([
    ['release', body],
    ['release', body],
  ])
})

test('a day is compared with the day before, and read step by step by the keyboard', async () => {
  const { page } = await open('incident', { address: '#/limiter/login' })
  const view = detail(page, 'login')
  await view.getByRole('link', { name: 'Compare with yesterday' }).click()
  await view.getByRole('link', { name: '24 h' }).click()
  await view.locator('path.yesterday').waitFor()
  expect(page.url()).toMatch(/#\/limiter\/login\?range=24h&yesterday=1$/)
  expect(await view.locator('rect.outage').count()).toBe(1)
  const chart = view.getByRole('slider', { name: 'Requests to login over time' })
  await chart.focus()
  const last = await chart.getAttribute('aria-valuenow')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('PageUp')
  expect(Number(last) - Number(await chart.getAttribute('aria-valuenow'))).toBe(11)
  expect(await chart.getAttribute('aria-valuetext')).toMatch(
    /^\d\d:\d\d:00 · [\d.]+ allowed, [\d.]+ denied per second \(\d+ %\) · yesterday [\d.]+ in all/,
  )
})
