import { until } from '../support/servers/wait.js'
import { scrape, useStage } from './dashboard-operator.js'
import { findings, takePicture } from './dashboard-page.js'

const setStage = useStage()

test('a network is blocked in two clicks, listed with who did it and why, and unblocked in one', async () => {
  const stage = await setStage()
  await scrape(stage)
  const { page, troubles } = await stage.open('')
  const headline = page.locator('[data-headline=network-denied]')
  await headline.getByRole('button', { name: 'Block 203.0.113.0/24 for 1 hour' }).click()
  const dialog = page.getByRole('dialog', { name: 'Block 203.0.113.0/24 in api' })
  const confirm = dialog.getByRole('button', { name: 'Block for 1 hour' })
  expect(await dialog.locator(':focus').textContent()).toBe('Block for 1 hour')
  expect(await dialog.getByLabel('Reason').inputValue()).toMatch(
    /^8 addresses in 203\.0\.113\.0\/24 have been denied since/,
  )
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'block-network')
  await confirm.click()
  await page
    .getByRole('status')
    .getByText(/^Blocked 203\.0\.113\.0\/24 in api until (?:\d+ \w+, )?\d\d:\d\d\./)
    .waitFor()
  await headline.getByText(/^ines blocked 203\.0\.113\.0\/24 until (?:\d+ \w+, )?\d\d:\d\d/).waitFor()
  expect(await headline.getByRole('button').allTextContents()).toEqual(['Undo'])
  expect(await stage.send('api', '203.0.113.99')).toBe(false)
  expect(await stage.send('api', '203.0.114.99')).toBe(true)
  await page.getByRole('status').getByRole('link', { name: 'In force' }).click()
  const row = page.locator('.in-force tbody tr')
  await row.waitFor()
  expect(await row.textContent()).toMatch(
    /^apiblocked 203\.0\.113\.0\/24.*ines at (?:\d+ \w+, )?\d\d:\d\d, “8 addresses in/,
  )
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'in-force')
  await row.getByRole('button', { name: 'Undo the block of 203.0.113.0/24 in api' }).click()
  const said = page.getByRole('status')
  await said.getByText('Undone: the block of 203.0.113.0/24 by ines, in api.').waitFor()
  await page.getByText('Nothing: the limits in the code apply to everyone.').waitFor()
  expect(await stage.send('api', '203.0.113.99')).toBe(true)
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'undone')
  await said.getByRole('button', { name: 'Undo' }).press('Enter')
  await said.getByText('Undone: the undo of the block of 203.0.113.0/24 by ines, in api.').waitFor()
  expect(
    await said.getByRole('button', { name: 'Undo' }).evaluate('document.activeElement.textContent'),
  ).toBe('Undo')
  await row.waitFor()
  expect(await stage.send('api', '203.0.113.98')).toBe(false)
  const reasons = (await stage.settings.changes('api')).map(({ by, reason }) => [by, reason])
  expect(reasons.slice(0, 2)).toEqual([
    ['ines', 'undo of: the undo of the block of 203.0.113.0/24 by ines'],
    ['ines', 'undo of: the block of 203.0.113.0/24 by ines'],
  ])
  expect(troubles).toEqual([])
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

test('a limit that was lowered by mistake is undone at the headline in one click, and open forms follow', async () => {
  const stage = await setStage()
  const { page: form } = await stage.open('#/limiter/api/edit')
  const limit = form.locator('input[name="limits.api.limit"]')
  await form.getByLabel('Reason').fill('typed before')
  await stage.settings.change('api', { limits: { api: { limit: 2 } } }, { by: 'grace', reason: 'the night' })
  await until('the form shows the change', async () => (await limit.inputValue()) === '2')
  await scrape(stage)
  const { page, troubles } = await stage.open('')
  const headline = page.locator('[data-headline]').first()
  await headline.getByText('grace set api to 2').first().waitFor()
  await headline.getByRole('button', { name: 'Undo what grace did' }).click()
  await page.getByRole('status').getByText('Undone: the change by grace (set api to 2), in api.').waitFor()
  // In the headline or, once no client is denied, in the row.
  await page.getByText('ines reset api to the limit in the code, to undo a change').first().waitFor()
  await until('the form is as before', async () => (await limit.inputValue()) === '')
  expect(await form.getByLabel('Reason').inputValue()).toBe('typed before')
  expect(await form.locator('.changes li').first().textContent()).toContain('(undid a change)')
  await limit.fill('7')
  await stage.settings.change('api', { limits: { api: { limit: 9 } } }, { by: 'grace', reason: 'the day' })
  await form.locator('.changes').getByText('the day').waitFor()
  expect(await limit.inputValue()).toBe('7') // what was typed stays
  expect(troubles).toEqual([])
})

test('an undo of what has changed since shows the difference first, and replaces it knowingly', async () => {
  const stage = await setStage()
  const limited = (limit: number) => ({ limits: { api: { limit } } })
  const { limits } = await stage.settings.change('api', limited(4), { by: 'ada', reason: 'launch' })
  const { page, troubles } = await stage.open('#/events')
  const event = page.locator('.event', { hasText: 'set api to 4' })
  await stage.settings.change('api', limited(9), { by: 'omar', reason: 'more' })
  await event.getByRole('button', { name: 'Undo what ada did' }).click()
  const dialog = page.getByRole('dialog', { name: 'Undo the change by ada (set api to 4), in api' })
  await dialog
    .getByText('limits.api: it was 4. omar (“more”) changed it to 9. Undone, it would be as in the code.')
    .waitFor()
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'undo-conflict')
  expect((await stage.settings.read('api')).limits).toEqual({ api: { limit: 9 } })
  await stage.settings.change('api', limited(7), { by: 'omar', reason: 'less' })
  await dialog.getByRole('button', { name: 'Undo anyway' }).click()
  await dialog.getByText('omar (“less”) changed it to 7.').waitFor()
  expect((await stage.settings.read('api')).limits).toEqual({ api: { limit: 7 } })
  await dialog.getByRole('button', { name: 'Undo anyway' }).click()
  const said = page.getByRole('status')
  await said.getByText('Undone: the change by ada (set api to 4), in api.').waitFor()
  expect([limits, (await stage.settings.read('api')).limits]).toEqual([{ api: { limit: 4 } }, {}])
  await said.getByRole('button', { name: 'Undo' }).click()
  await said.getByText('Undone: the undo of the change by ada').waitFor()
  expect((await stage.settings.read('api')).limits).toEqual({ api: { limit: 7 } })
  expect(troubles.filter((text) => !text.includes('409'))).toEqual([])
})

test('an undo whose outcome is unknown is tried again as the same change, and then read once', async () => {
  const stage = await setStage()
  await stage.settings.change('api', { mode: 'report' }, { by: 'ada', reason: 'launch' })
  const { page, troubles } = await stage.open('#/limiter/api/edit')
  const sent: string[] = []
  const reads: string[] = []
  page.on('request', (request) => {
    const [action = ''] = /[a-z-]+$/.exec(request.url()) ?? []
    if (action === 'settings' || action === 'in-force') reads.push(action)
  })
  await page.route('**/undo', async (route) => {
    sent.push((route.request().postDataJSON() as { id: string }).id)
    const made = await route.fetch()
    await (sent.length === 1 ? route.fulfill(LOST) : route.fulfill({ response: made }))
  })
  await page.locator('.in-force tbody tr').waitFor()
  await page.getByRole('button', { name: 'Undo the change by ada: launch' }).click()
  const said = page.getByRole('status')
  await said
    .getByText(/^Could not undo the change by ada \(“launch”\), in api\. The outcome is unknown\./)
    .waitFor()
  await page.locator('.changes').getByText('(undid a change)').waitFor() // it was made nevertheless
  reads.length = 0
  await said.getByRole('button', { name: 'Try again' }).click()
  await said.getByText('Undone: the change by ada (“launch”), in api.').waitFor()
  expect([sent.length, new Set(sent).size, reads.toSorted()]).toEqual([2, 1, ['in-force', 'settings']])
  expect((await stage.settings.changes('api')).length).toBe(2)
  expect(troubles.filter((text) => !text.includes('503'))).toEqual([])
})

test('an operator who blocks whom another has exempted meanwhile sees it first, and replaces it knowingly', async () => {
  const stage = await setStage()
  const { page, troubles } = await stage.open('#/limiter/search/edit')
  await page.getByLabel('Client, IP address or network').fill('acme')
  await page.getByRole('button', { name: 'Continue…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Block acme in search' })
  await dialog.locator('.preview li').first().waitFor()
  await dialog.getByLabel('Reason').fill('attack')
  const exempt = { identity: 'acme', exempt: true } as const
  await stage.settings.change('search', { overrides: [exempt] }, { by: 'ada', reason: 'launch' })
  const confirm = dialog.getByRole('button', { name: 'Block for 1 hour' })
  await confirm.click()
  await dialog.getByText('ada (“launch”) changed it to exempt. Nothing is changed yet.').waitFor()
  await dialog.getByText(/^Replaces: exempt indefinitely, by ada at \d\d:\d\d, “launch”\.$/).waitFor()
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'replace')
  expect((await stage.settings.read('search')).overrides).toEqual([exempt])
  for (let i = 0; i < 20 && (await dialog.isVisible()); i++) {
    await dialog.locator('button[type=submit]').dispatchEvent('click') // the first may be too early
    await dialog.locator('[aria-busy]').waitFor({ state: 'detached' })
  }
  expect((await stage.settings.read('search')).overrides).toMatchObject([{ identity: 'acme', block: true }])
  expect(troubles.filter((text) => !text.includes('409'))).toEqual([])
})

test('what cannot be read is said, without an outcome that is unknown, and read again by itself', async () => {
  const stage = await setStage()
  const { page, troubles } = await stage.open('')
  await page.clock.install()
  const answers: Record<string, { status: number; body: string }> = {}
  for (const name of ['settings', 'in-force', 'tuning'])
    await page.route(`**/${name}`, (route) => route.fulfill(answers[name] ?? LOST))
  await page.evaluate("location.hash = '#/limiter/api/edit'")
  const list = page.locator('.in-force-list')
  await list.getByText('redis: no reply within 5000 ms').waitFor()
  await page
    .getByRole('alert')
    .getByText(/^redis: no reply within 5000 ms$/)
    .waitFor()
  expect(await list.textContent()).not.toContain('Nothing')
  const block = { kind: 'block', count: 1, targets: ['acme'], paths: [], untilMs: Date.now() + 3_600_000 }
  const ending = { ...block, targets: ['zoe'], untilMs: Date.now() + 1000 }
  const limiters = [{ limiter: 'api', base: null, entries: [block, ending], total: 2 }]
  answers['in-force'] = { status: 200, body: JSON.stringify({ limiters }) }
  await page.unroute('**/settings')
  await page.clock.fastForward(6000)
  await list.getByText('acme').waitFor()
  await list.getByText('zoe').waitFor({ state: 'hidden' })
  await page.locator('input[name="limits.api.limit"]').waitFor()
  await page
    .getByRole('alert')
    .getByText(/^redis: no reply/)
    .waitFor({ state: 'hidden' })
  expect(troubles.filter((text) => !text.includes('503'))).toEqual([])
})

const LOST = {
  status: 503,
  body: JSON.stringify({ error: 'redis: no reply within 5000 ms', isUnknown: true }),
}
