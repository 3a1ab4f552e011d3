import type { Page } from 'playwright-core'
import type { PageFigures } from '../../src/dashboard/figures/shown.js'
import { figuresOf } from '../tools/dashboard-scenes/scene.js'
import { SCENES } from '../tools/dashboard-scenes/scenes.js'
import { detail } from './dashboard-page.js'
import { useScenes } from './dashboard-scene.js'

const open = useScenes()

/** Confirms what the dialog asks, with a reason. */
async function confirm(page: Page, verb: string, reason = 'ticket 7'): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill(reason)
  await dialog.getByRole('button', { name: verb, exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
}

const change = (effect: string, identities: readonly string[]) => ({
  ...(effect !== 'release' && { effect }),
  limiter: 'search',
  targets: identities.map((storedIdentity) => ({ storedIdentity })),
  ...{ id: expect.any(String), reason: 'ticket 7', by: 'ines' },
})

test('several clients are released at once, with a reason, in the name of the operator', async () => {
  const { page, sent, troubles } = await open('incident', { address: '#/limiter/search' })
  await page.getByLabel('Select 198.51.100.10', { exact: true }).check()
  await page.getByLabel('Select 198.51.100.12', { exact: true }).check()
  await page.getByText('2 clients selected').waitFor()
  await page.getByRole('button', { name: 'Release…' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill(' ')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  expect(sent).toEqual([])
  await page.getByRole('button', { name: 'Release…' }).click()
  await confirm(page, 'Release')
  await page.getByText('Released 2 clients in search.').waitFor()
  expect(sent).toEqual([['release', change('release', ['198.51.100.10', '198.51.100.12'])]])
  expect(await page.getByText(/selected$/).isVisible()).toBe(false)
  await page.locator('.panel .event', { hasText: '198.51.100.12' }).waitFor()
  expect(troubles).toEqual([])
})

test('without settings, clients are blocked for as long as a ban may last, and the page says how to do more', async () => {
  const { page, sent } = await open('bans', { address: '#/limiter/search' })
  await page.getByLabel('Select 198.51.100.10', { exact: true }).check()
  const bar = page.locator('.selection')
  expect(await bar.getByRole('button').allTextContents()).toEqual(['Release…', 'Block…', 'Copy', 'Clear'])
  await bar.getByText('add settings: sharedSettings(store)').waitFor()
  await bar.getByRole('button', { name: 'Block…' }).click()
  expect(await page.locator('select[name=duration] option').allTextContents()).toEqual([
    '10 minutes',
    '1 hour',
  ])
  await confirm(page, 'Block for 1 hour')
  const body = { ...change('block', ['198.51.100.10']), durationMs: 3_600_000 }
  expect(sent).toEqual([['override', body]])
  await page.getByLabel('Search clients, routes, networks').fill('198.51.100.0/24')
  await bar.getByText('Network 198.51.100.0/24').waitFor()
  expect(await bar.getByRole('button').allTextContents()).toEqual(['Release…'])
  await page.goto(`${page.url().split('#')[0]}#/limiter/login`) // which has no ban
  await page.getByLabel('Select maria.keller@example.com').check()
  await bar.getByText(/^This limiter has no ban, so it cannot block clients/).waitFor()
  expect(await bar.getByRole('button').allTextContents()).toEqual(['Release…', 'Copy', 'Clear'])
})

test('a network is exempted and released like a client, and an override may have no end', async () => {
  const { page, sent } = await open('incident', { address: '#/limiter/search?q=198.51.100.0%2F24' })
  const bar = page.locator('.selection')
  await bar.getByRole('button', { name: 'Exempt…' }).click()
  await page.locator('select[name=duration]').selectOption('indefinitely')
  await confirm(page, 'Exempt indefinitely')
  await page.getByText('Exempted 198.51.100.0/24 in search indefinitely.').waitFor()
  await bar.getByRole('button', { name: 'Release…' }).click()
  await confirm(page, 'Release')
  const targets = [{ network: '198.51.100.0/24' }]
  expect(sent).toMatchObject([
    ['override', { effect: 'exempt', targets, durationMs: null }],
    ['release', { targets }],
  ])
})

test('all clients whose identity begins with a text are blocked by one override', async () => {
  const { page, sent } = await open('incident', { address: '#/limiter/search/edit' })
  await page.getByLabel('Client, IP address or network').fill(' trial- ')
  await page.getByLabel('All clients whose identity begins with this text').check()
  await page.getByRole('button', { name: 'Continue…' }).click()
  await page.getByRole('dialog', { name: 'Block trial-… in search' }).waitFor()
  await confirm(page, 'Block for 1 hour')
  expect(sent).toMatchObject([['override', { targets: [{ identityPrefix: 'trial-' }], effect: 'block' }]])
})

test('a range of clients is selected with the pointer, and with the keyboard', async () => {
  const { page } = await open('incident', { address: '#/limiter/search' })
  const box = (i: number) => page.locator('tr.client .pick input').nth(i)
  await box(1).click()
  await box(4).click({ modifiers: ['Shift'] })
  await page.getByText('4 clients selected').waitFor()
  await box(3).click()
  await page.getByText('3 clients selected').waitFor()
  await page.locator('tr.client a').nth(5).focus()
  await page.keyboard.press('x')
  await page.getByText('4 clients selected').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('X')
  await page.getByText('6 clients selected').waitFor()
})

test('what cannot be proposed or previewed is said, and nothing is replaced that was not shown', async () => {
  const { page, sent } = await open('failing', { address: '#/limiter/mail?q=198.51.100.0%2F24' })
  await page.locator('.selection').getByRole('button', { name: 'Block…' }).click()
  const dialog = page.getByRole('dialog')
  const reason = 'redis: no reply within 800 ms'
  const unknown = `Could not find out what this would replace, and which other clients it would affect: ${reason}`
  await dialog.getByText(unknown).waitFor()
  await dialog.getByText(`The preview failed: ${reason}`).waitFor()
  await dialog.getByLabel('Reason').fill('an attack')
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await dialog.locator('[aria-busy]').waitFor({ state: 'detached' })
  await dialog.getByText(unknown).waitFor()
  expect(sent).toEqual([])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  const release = page.locator('.selection').getByRole('button', { name: 'Release…' })
  await release.click()
  await dialog.getByLabel('Reason').fill('over')
  for (const count of [1, 2]) {
    await dialog.getByRole('button', { name: 'Release', exact: true }).click()
    await dialog.getByText('The outcome is unknown.').waitFor()
    await dialog.locator('[aria-busy]').waitFor({ state: 'detached' })
    expect(sent.length).toBe(count)
  }
  expect(new Set(sent.map(([, body]) => (body as { id: string }).id)).size).toBe(1) // made once
})

test('a preview that arrives late never replaces a later one', async () => {
  const { page } = await open('incident', { address: '#/limiter/search' })
  const held: (() => void)[] = []
  await page.route('**/preview', async (route) => {
    const { limits } = route.request().postDataJSON()
    if (limits.search.limit === 300) await new Promise<void>((resolve) => held.push(resolve))
    const problem = `for ${limits.search.limit}`
    await route.fulfill({ json: { limits: [{ limitName: 'search', problem }] } })
  })
  await page.getByLabel('Select 198.51.100.10', { exact: true }).check()
  await page.getByRole('button', { name: 'Raise…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('search: for 250').waitFor()
  const number = dialog.getByRole('spinbutton').first()
  const asked = page.waitForRequest((request) => request.postData()?.includes('300') === true)
  await number.fill('300')
  await asked
  await number.fill('400')
  await dialog.getByText('search: for 400').waitFor()
  const late = page.waitForResponse((response) => response.request().postData()?.includes('300') === true)
  for (const release of held) release()
  await (await late).finished()
  expect(await dialog.locator('.preview').textContent()).toBe('search: for 400')
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
  expect(await page.getByRole('button', { name: /Release|Block|Exempt|Raise|Try|Approve/ }).count()).toBe(0)
})

test('a name is asked for where the server knows none, and remembered', async () => {
  const { page, sent } = await open('incident', { address: '#/limiter/login', operator: '' })
  for (const name of ['', 'ada']) {
    await page.getByLabel('Select maria.keller@example.com').check()
    await page.getByRole('button', { name: 'Release…' }).click()
    const field = page.getByRole('dialog').getByLabel('Your name')
    expect(await field.inputValue()).toBe(name)
    await field.fill(' ada ')
    await confirm(page, 'Release')
    await page.getByText('1 client selected').waitFor({ state: 'hidden' })
  }
  expect(sent).toMatchObject([
    ['release', { by: 'ada' }],
    ['release', { by: 'ada' }],
  ])
})

test('until a day has been read, the chart and the sparklines are empty, and say so', async () => {
  const figures = figuresOf(SCENES.incident as NonNullable<(typeof SCENES)[string]>)
  const reads: (() => void)[] = []
  const isRead = new Promise<void>((resolve) => reads.push(resolve))
  const late =
    <Args extends unknown[], Result>(read: (...args: Args) => Promise<Result>) =>
    (...args: Args) =>
      isRead.then(() => read(...args))
  const slow: PageFigures = {
    ...figures,
    asOfNow: async () => slow,
    history: late(figures.history),
    histories: late(figures.histories),
  }
  const { page } = await open(slow)
  const spark = page.locator('.row[data-limiter="login"] .sparkline')
  await spark.locator('.line[d^="M"]').waitFor({ state: 'attached' })
  await page.getByRole('link', { name: '24 h' }).click()
  await spark.locator('.line[d=""]').waitFor({ state: 'attached' })
  await page.getByRole('link', { name: 'login', exact: true }).first().click()
  const view = detail(page, 'login')
  await view.getByRole('link', { name: '15 min' }).click()
  await view.locator('.traffic path.line').waitFor()
  await view.getByRole('link', { name: '24 h' }).click()
  await view.getByText('Loading…').waitFor()
  expect(await view.locator('.traffic path').count()).toBe(0)
  for (const read of reads) read()
  await view.locator('.traffic path.line').waitFor()
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
    /^\d\d:\d\d:00 · [\d.]+ allowed, [\d.]+ denied per second \(\d+%\) · yesterday [\d.]+ in total/,
  )
})
