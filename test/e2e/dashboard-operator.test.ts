import { scrape, useStage } from './dashboard-operator.js'
import { findings, takePicture } from './dashboard-page.js'

const setStage = useStage()

test('a network is blocked in two clicks, listed with who did it and why, and unblocked', async () => {
  const stage = await setStage()
  await scrape(stage)
  const { page, troubles } = await stage.open('')
  const headline = page.locator('[data-headline=network-denied]')
  await headline.getByRole('button', { name: 'Block 203.0.113.0/24 for 1 hour' }).click()
  const dialog = page.getByRole('dialog', { name: 'Block 203.0.113.0/24 in api' })
  const confirm = dialog.getByRole('button', { name: 'Block for 1 hour' })
  expect(await dialog.locator(':focus').textContent()).toBe('Block for 1 hour')
  expect(await dialog.getByLabel('Reason').inputValue()).toMatch(
    /^8 addresses of 203\.0\.113\.0\/24 are denied since/,
  )
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'block-network')
  await confirm.click()
  await page
    .getByRole('status')
    .getByText(/^Blocked 203\.0\.113\.0\/24 in api until \d\d:\d\d\./)
    .waitFor()
  expect(await stage.send('api', '203.0.113.99')).toBe(false)
  expect(await stage.send('api', '203.0.114.99')).toBe(true)
  await page.getByRole('status').getByRole('link', { name: 'In force' }).click()
  const row = page.locator('.in-force tbody tr')
  await row.waitFor()
  expect(await row.textContent()).toMatch(
    /^apiblocked 203\.0\.113\.0\/24.*ines at \d\d:\d\d, “8 addresses of/,
  )
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'in-force')
  await row.getByRole('button', { name: 'Undo blocked 203.0.113.0/24 in api' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Nothing: the rules of the code apply to everyone.').waitFor()
  expect(await stage.send('api', '203.0.113.99')).toBe(true)
  expect(troubles).toEqual([])
})

test('a customer whose plan is too small gets more for a day in two clicks', async () => {
  const stage = await setStage()
  for (let i = 0; i < 20; i++) await stage.send('search', '192.0.2.7', 'acme')
  const { page, troubles } = await stage.open('')
  const headline = page.locator('[data-headline=few-denied]')
  await headline.getByRole('button', { name: 'Raise its limit for 1 day' }).click()
  const dialog = page.getByRole('dialog')
  expect(Number(await dialog.getByRole('spinbutton').inputValue())).toBeGreaterThanOrEqual(20)
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'raise')
  await dialog.getByRole('button', { name: 'Raise for 1 day' }).click()
  await page
    .getByRole('status')
    .getByText(/^Raised .* in search until/)
    .waitFor()
  expect(await stage.send('search', '192.0.2.7', 'acme')).toBe(true)
  expect(await stage.settings.changes('search')).toMatchObject([{ by: 'ines' }])
  expect(troubles).toEqual([])
})

test('limits are edited with a preview, and a second operator sees what the first has changed', async () => {
  const stage = await setStage()
  await scrape(stage)
  const address = '#/limiter/api/edit'
  const [first, second] = [await stage.open(address, 'ines'), await stage.open(address, 'omar')]
  const limitOf = ({ page }: typeof first) => page.locator('input[name="limits.api.limit"]')
  const edit = async (opened: typeof first, limit: string, reason: string) => {
    await limitOf(opened).fill(limit)
    await opened.page
      .getByText(/^api: /)
      .first()
      .waitFor()
    await opened.page.getByLabel('Reason').fill(reason)
    await opened.page.locator('form button[type=submit]').first().click()
  }
  await limitOf(second).waitFor()
  await edit(first, '6', 'more')
  await first.page.getByRole('status').getByText('Saved the settings of api.').waitFor()
  expect(await stage.send('api', '203.0.113.1')).toBe(true)
  await edit(second, '9', 'even more')
  const conflict = second.page.locator('.conflict')
  await conflict.getByText('ines (“more”) made it 6. Yours is 9.').waitFor()
  expect(await limitOf(second).inputValue()).toBe('9')
  expect(await findings(second.page)).toEqual([])
  await takePicture(second.page, 'edit-conflict')
  await second.page.getByRole('button', { name: 'Save on top' }).click()
  await second.page.getByRole('status').getByText('Saved the settings of api.').waitFor()
  expect((await stage.settings.read('api')).limits).toEqual({ api: { limit: 9 } })
  await second.page.getByRole('button', { name: 'Undo the change of omar: even more' }).click()
  await second.page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
  await second.page.getByRole('status').getByText('Undone: the change of omar in api.').waitFor()
  expect((await stage.settings.read('api')).limits).toEqual({ api: { limit: 6 } })
  expect([...first.troubles, ...second.troubles].filter((text) => !text.includes('409'))).toEqual([])
})

test('whoever may only see has all of it to read, and nothing to press', async () => {
  const stage = await setStage()
  await scrape(stage)
  await stage.settings.change(
    'api',
    { mode: 'report', limits: { api: { limit: 4 } } },
    { by: 'ines', reason: 'more' },
  )
  const { page, troubles } = await stage.open('#/limiter/api/edit', '')
  const limit = page.locator('input[name="limits.api.limit"]')
  await limit.waitFor()
  await page.locator('.in-force tbody tr').first().waitFor()
  expect([await limit.inputValue(), await limit.isDisabled()]).toEqual(['4', true])
  expect(await page.locator('main').getByRole('button').count()).toBe(0)
  for (const link of ['In force', 'Overview']) {
    await page.getByRole('link', { name: link, exact: true }).first().click()
    await page.locator('main h1').waitFor({ state: 'attached' })
    expect(
      await page
        .locator('main')
        .getByRole('button', { name: /Block|Raise|Undo/ })
        .count(),
    ).toBe(0)
  }
  const body = JSON.stringify({
    limiter: 'api',
    targets: [{ identity: 'a' }],
    effect: 'block',
    durationMs: 60_000,
    reason: 'x',
  })
  const headers = { 'content-type': 'application/json', 'x-access': 'view' }
  expect((await fetch(`${stage.url}override`, { method: 'POST', headers, body })).status).toBe(403)
  expect(troubles).toEqual([])
})
