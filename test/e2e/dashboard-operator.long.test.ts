import { memoryStore, type Store } from 'headgate'
import { redisStore } from 'headgate/redis'
import { customStore } from 'headgate/store'
import { Redis } from 'ioredis'
import { pageModule } from '../support/page-module.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { type RedisServer, startRedis } from '../support/servers/redis.js'
import { scrape, useStage } from './dashboard-operator.js'
import { detail, findings, lookUp, PHONE, takePicture } from './dashboard-page.js'

const { changedText } = pageModule<{ changedText(change: object): string }>('changed-text.js')
const BLOCKED = changedText({ effect: 'block', who: '203.0.113.0/24', limiter: 'api' })

const setStage = useStage()

describe('on Redis', () => {
  let server: RedisServer
  let client: Redis

  beforeAll(async () => {
    server = await startRedis({ own: true })
    client = new Redis(server.url, { autoResendUnfulfilledCommands: false })
  }, INSTALL_TIMEOUT_MS)
  beforeEach(() => client.flushall())
  afterAll(async () => {
    client?.disconnect()
    await server?.stop()
  })

  test('a network is blocked in two clicks, and what it replaced comes back', async () => {
    const stage = await setStage(redisStore(client))
    await scrape(stage)
    const { page, troubles } = await stage.open('')
    await page.getByRole('button', { name: 'Block 203.0.113.0/24 for 1 hour' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Block for 1 hour' }).click()
    await page.getByRole('status').getByText(BLOCKED).waitFor()
    expect(await stage.send('api', '203.0.113.99')).toBe(false)
    await page.getByRole('link', { name: 'api', exact: true }).first().click()
    const row = detail(page, 'api').locator('.in-force tbody tr')
    await row.getByRole('button', { name: /^Undo/ }).click()
    await row.waitFor({ state: 'detached' })
    expect(await stage.send('api', '203.0.113.99')).toBe(true)
    expect(troubles).toEqual([])
  })

  test('several clients are exempted at once, as one change', async () => {
    const stage = await setStage(redisStore(client))
    await scrape(stage)
    const { page, troubles } = await stage.open('#/limiter/api')
    await page.getByLabel('Select all listed clients').check()
    await page.getByText('8 clients selected').waitFor()
    await page.getByRole('button', { name: 'Exempt…' }).click()
    await page.getByRole('dialog').getByLabel('Reason').fill('an office')
    await page.getByRole('dialog').getByRole('button', { name: 'Exempt for 1 day' }).click()
    const done = changedText({ effect: 'exempt', who: '8 clients', limiter: 'api' })
    await page.getByRole('status').getByText(`${done} until`).waitFor()
    expect(await Promise.all([1, 2, 8].map((i) => stage.send('api', `203.0.113.${i}`)))).toEqual([
      true,
      true,
      true,
    ])
    expect((await stage.settings.changes('api')).map(({ partCount }) => partCount)).toEqual([8])
    expect(troubles).toEqual([])
  })
})

test('a customer whose plan is too small gets more for a day in two clicks', async () => {
  const stage = await setStage()
  for (let i = 0; i < 20; i++) await stage.send('search', '192.0.2.7', 'acme')
  const { page, troubles } = await stage.open('')
  const headline = page.locator('[data-headline=few-denied]')
  await headline.getByRole('button', { name: /^Raise its limit to \d+ for 1 day$/ }).click()
  const dialog = page.getByRole('dialog')
  const [, who] = /^Raise (.+) in search$/.exec((await dialog.getByRole('heading').textContent()) ?? '') ?? []
  const limit = Number(await dialog.getByRole('spinbutton').inputValue())
  expect(limit).toBeGreaterThanOrEqual(20)
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'raise')
  await dialog.getByRole('button', { name: 'Raise for 1 day' }).click()
  const done = changedText({ effect: 'raise', who, limiter: 'search', limits: { search: { limit } } })
  await page.getByRole('status').getByText(`${done} until`).waitFor()
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
  await limitOf(second).fill('9') // what is typed stays, whatever others save
  await edit(first, '6', 'more')
  await first.page.getByRole('status').getByText('Saved the settings of api.').waitFor()
  expect(await stage.send('api', '203.0.113.1')).toBe(true)
  await edit(second, '9', 'even more')
  const conflict = second.page.locator('.conflict')
  await conflict.getByText('ines (“more”) changed it to 6. Yours is 9.').waitFor()
  expect(await limitOf(second).inputValue()).toBe('9')
  expect(await findings(second.page)).toEqual([])
  await takePicture(second.page, 'edit-conflict')
  await second.page.getByRole('button', { name: 'Save anyway' }).click()
  await second.page.getByRole('status').getByText('Saved the settings of api.').waitFor()
  expect((await stage.settings.read('api')).limits).toEqual({ api: { limit: 9 } })
  await second.page.getByRole('button', { name: 'Undo the change by omar: even more' }).click()
  await second.page
    .getByRole('status')
    .getByText('Undone: the change by omar (“even more”), in api.')
    .waitFor()
  expect((await stage.settings.read('api')).limits).toEqual({ api: { limit: 6 } })
  expect([...first.troubles, ...second.troubles].filter((text) => !text.includes('409'))).toEqual([])
})

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  `"' onmouseover=alert(3) x="`,
  '\u202egnp.exe',
  'x'.repeat(1000),
]

test('hostile names of clients and operators are text, in dialogs and in lists', async () => {
  const stage = await setStage()
  const by = HOSTILE[0] as string
  const overrides = HOSTILE.map((identity) => ({ identity, block: true as const }))
  await stage.settings.change('search', { overrides }, { by, reason: HOSTILE.join(' ').slice(0, 900) })
  const { page, troubles } = await stage.open('#/in-force')
  await page.locator('.in-force tbody tr').first().waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(page.viewportSize()?.width)
  const undo = page.getByRole('button', { name: /^Undo/ }).first()
  expect(await undo.getAttribute('aria-label')).toMatch(/^Undo the block of 4 targets in search$/)
  await page.goto(`${stage.url}#/limiter/search/edit`)
  await page.locator('.changes li').first().waitFor()
  await page.getByLabel('Client, IP address or network').fill(by)
  await page.getByRole('button', { name: 'Continue…' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByRole('heading').textContent()).toBe(`Block ${by} in search`)
  await dialog.getByLabel('Reason').fill('x'.repeat(1_000_000))
  expect((await dialog.getByLabel('Reason').inputValue()).length).toBe(500)
  await dialog.getByText(/^Replaces: blocked indefinitely/).waitFor()
  for (let i = 0; i < 20 && (await dialog.isVisible()); i++) {
    await dialog.locator('button[type=submit]').dispatchEvent('click') // the first may be too early
    await dialog.locator('[aria-busy]').waitFor({ state: 'detached' })
  }
  await page.getByRole('status').getByText('Blocked <img').waitFor()
  expect(await page.locator('img[src=x]').count()).toBe(0)
  expect(troubles).toEqual([])
})

test('a double click on a headline confirms nothing, and one on the button that confirms is one change', async () => {
  const stage = await setStage()
  await scrape(stage)
  const { page } = await stage.open('')
  await page.getByRole('button', { name: 'Block 203.0.113.0/24 for 1 hour' }).dblclick()
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Block for 1 hour' })
  await confirm.waitFor()
  expect(await stage.settings.changes('api')).toEqual([])
  await confirm.dblclick().catch(() => undefined) // it may be gone before the second click
  await page.getByRole('status').getByText(BLOCKED).waitFor()
  expect((await stage.settings.changes('api')).length).toBe(1)
})

test('Enter that is held on a headline opens its dialog, and neither confirms it nor repeats it', async () => {
  const stage = await setStage()
  await scrape(stage)
  const { page } = await stage.open('')
  const hold = async (times: number) => {
    for (let i = 0; i < times; i++) await page.keyboard.down('Enter') // the second and later ones repeat
    await page.keyboard.up('Enter')
  }
  await page.getByRole('button', { name: 'Block 203.0.113.0/24 for 1 hour' }).focus()
  await page.keyboard.down('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await hold(20)
  expect([await dialog.count(), await stage.settings.changes('api')]).toEqual([1, []])
  for (let i = 0; i < 20 && (await dialog.isVisible()); i++) {
    await dialog.locator('button[type=submit]').dispatchEvent('click') // the first may be too early
    await dialog.locator('[aria-busy]').waitFor({ state: 'detached' })
  }
  const said = page.getByRole('status')
  await said.getByText(BLOCKED).waitFor()
  await page.locator('[data-headline=network-denied]').getByRole('button', { name: /^Undo/ }).focus()
  await hold(20)
  await said.getByText('Undone: the change by ines').waitFor()
  await said.getByRole('button', { name: 'Undo' }).focus()
  await hold(20)
  await said.getByText('Undone: the undo of the change by ines').waitFor()
  expect((await stage.settings.changes('api')).length).toBe(3)
})

test('an undo that is slow stays busy when its list is drawn again, and is sent once', async () => {
  const stage = await setStage()
  await stage.settings.change('api', { mode: 'report' }, { by: 'ada', reason: 'launch' })
  const { page } = await stage.open('#/events')
  let sent = 0
  let go = () => {}
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  await page.route('**/undo', async (route) => {
    sent++
    await gate
    await route.continue()
  })
  const undo = page.locator('.event', { hasText: 'api: ' }).getByRole('button', { name: 'Undo what ada did' })
  await undo.click()
  await stage.settings.change('search', { mode: 'report' }, { by: 'omar', reason: 'another' })
  await page.getByRole('button', { name: 'Undo what omar did' }).waitFor()
  expect(await undo.getAttribute('aria-busy')).toBe('true')
  await undo.click()
  go()
  await page.getByRole('status').getByText('Undone: the change by ada').waitFor()
  await undo.and(page.locator(':not([aria-busy])')).waitFor()
  expect([sent, (await stage.settings.changes('api')).length]).toEqual([1, 2])
})

test('a login that has ended is said, and a long name leaves the message short', async () => {
  const stage = await setStage()
  const identity = 'm'.repeat(1000)
  await stage.settings.change(
    'search',
    { overrides: [{ identity, block: true }] },
    { by: 'ada', reason: 'x' },
  )
  const { page } = await stage.open('#/in-force')
  const said = page.getByRole('status')
  const undo = page.getByRole('button', { name: /^Undo the block of m+…m+ in search$/ })
  await page.route('**/undo', (route) => route.fulfill({ status: 302, headers: { Location: '/login' } }))
  await undo.click()
  await said.getByText('Your session has ended. Sign in again, such as in another tab.').waitFor()
  await page.unroute('**/undo')
  await undo.click()
  await said.getByText(/^Undone: the block of m{29}…m{29} by ada, in search\.$/).waitFor()
})

test('a warning of the own address is read before the block is confirmed', async () => {
  const stage = await setStage()
  const { page } = await stage.open('')
  await lookUp(page, '127.0.0.0/8')
  await page.getByRole('button', { name: 'Block in api' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('127.0.0.0/8 contains your own address, 127.0.0.1.').waitFor()
  await dialog.getByText('127.0.0.0/8 has 16,777,216 addresses.').waitFor()
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'block-warning')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await stage.settings.changes('api')).toEqual([])
})

test('a store that hangs leaves no doubt that the outcome is unknown, and pressing again does it once', async () => {
  const memory = memoryStore()
  const documents = memory.documents as NonNullable<Store['documents']>
  let hangs = false
  const never = () => new Promise<never>(() => undefined)
  const hanging: typeof documents = {
    ...documents,
    read: (keys) => (hangs ? never() : documents.read(keys)),
    async replace(key, ...rest) {
      const done = await documents.replace(key, ...rest)
      return hangs ? never() : done // the reply is lost
    },
  }
  const stage = await setStage(customStore({ ...memory, name: 'hanging', documents: hanging }))
  await scrape(stage)
  const { page } = await stage.open('')
  const proposed = page.waitForResponse('**/proposal')
  await page.getByRole('button', { name: 'Block 203.0.113.0/24 for 1 hour' }).click()
  await proposed // what the block replaces is known
  const dialog = page.getByRole('dialog')
  const confirm = dialog.getByRole('button', { name: 'Block for 1 hour' })
  hangs = true
  await confirm.click()
  await dialog.getByText('The outcome is unknown.').waitFor({ timeout: 20_000 })
  expect(await findings(page)).toEqual([])
  hangs = false
  await confirm.click()
  await page.getByRole('status').getByText(BLOCKED).waitFor()
  expect((await stage.settings.changes('api')).length).toBe(1)
})

test.each(['light', 'dark'] as const)('axe finds nothing on a phone, in %s', async (colorScheme) => {
  const stage = await setStage()
  await scrape(stage)
  const { page } = await stage.open('', 'ines', { ...PHONE, colorScheme })
  const look = async (view: string, ready: string) => {
    await page.goto(stage.url + view)
    await page.locator(ready).first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(page.viewportSize()?.width)
    expect(await findings(page)).toEqual([])
    await takePicture(page, `phone-${colorScheme}${view.replaceAll(/[#/]+/g, '-')}`)
  }
  await look('#/', '[data-headline] .bar button') // before a change that explains the denials
  await stage.settings.change(
    'api',
    { limits: { api: { limit: 2 } }, overrides: [{ network: '10.0.0.0/8', block: true }] },
    { by: 'ines', reason: 'a test' },
  )
  await look('#/in-force', '.in-force tbody tr')
  await look('#/limiter/api/edit', '.changes .undo')
  await look('#/limiter/api', '.in-force tbody tr')
})
