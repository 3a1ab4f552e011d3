import type { Page } from 'playwright-core'

/** A state of the page that takes a few steps to reach. */
export interface Steps {
  readonly scene: string
  readonly address: string
  /** Who has opened the page; `''` for an operator whom the server does not know. */
  readonly operator?: string
  reach?(page: Page): Promise<unknown>
}

const NETWORK = '#/limiter/search?q=198.51.100.0%2F24'

/** Presses a button of the bar of changes, once what it changes is known. */
const press = (name: string) => async (page: Page) => {
  await page.locator('.selection').getByRole('button', { name, exact: true }).click()
  await page.getByRole('dialog').waitFor()
  await page.waitForLoadState('networkidle').catch(() => undefined)
}

const button = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click()

async function edit(page: Page): Promise<void> {
  const limit = page.locator('.limit-fields input[type=number]').first()
  await limit.fill('30')
  await page.locator('.preview li').first().waitFor()
}

async function selectSome(page: Page): Promise<void> {
  for (const i of [0, 1, 2, 3, 5, 8, 9]) await page.locator('tr.client .pick input').nth(i).check()
}

/** Dialogs, and views with something in them, by the name of their picture. */
export const STATES: Readonly<Record<string, Steps>> = {
  help: { scene: 'calm', address: '#/', reach: (page) => page.keyboard.press('?') },
  named: { scene: 'incident', address: NETWORK, operator: '', reach: press('Release…') },
  release: { scene: 'incident', address: NETWORK, reach: press('Release…') },
  'block-warned': { scene: 'incident', address: NETWORK, reach: press('Block…') },
  exempt: { scene: 'incident', address: NETWORK, reach: press('Exempt…') },
  raise: { scene: 'incident', address: NETWORK, reach: press('Raise…') },
  'raise-several': {
    scene: 'incident',
    address: '#/limiter/search',
    async reach(page) {
      await selectSome(page)
      await press('Raise…')(page)
    },
  },
  'block-failed': { scene: 'failing', address: '#/limiter/mail?q=198.51.100.0%2F24', reach: press('Block…') },
  'raise-failed': { scene: 'failing', address: '#/limiter/mail?q=198.51.100.0%2F24', reach: press('Raise…') },
  'block-report': {
    scene: 'incident',
    address: '#/limiter/graphql?q=192.0.2.0%2F24',
    reach: press('Block…'),
  },
  unknown: {
    scene: 'failing',
    address: '#/limiter/mail?q=198.51.100.0%2F24',
    async reach(page) {
      await press('Release…')(page)
      await page.getByRole('dialog').getByLabel('Reason').fill('an office')
      await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click()
      await page.getByRole('dialog').getByText('The outcome is unknown.').waitFor()
    },
  },
  selected: { scene: 'incident', address: '#/limiter/search', reach: selectSome },
  'selected-bans': { scene: 'bans', address: '#/limiter/search', reach: selectSome },
  bans: {
    scene: 'bans',
    address: '#/limiter/login',
    reach: (page) => page.locator('tr.client .pick input').first().check(),
  },
  undo: {
    scene: 'incident',
    address: '#/in-force',
    async reach(page) {
      await button(/^Undo the block/)(page)
      await page.getByRole('status').getByText('Undone: the block').waitFor()
    },
  },
  'in-force': {
    scene: 'incident',
    address: '#/in-force',
    reach: (page) => page.locator('.in-force').waitFor(),
  },
  'nothing-in-force': { scene: 'one', address: '#/limiter/api' },
  edit: { scene: 'incident', address: '#/limiter/search/edit', reach: edit },
  conflict: {
    scene: 'incident',
    address: '#/limiter/login/edit',
    async reach(page) {
      await edit(page)
      await page.locator('input[name=reason]').fill('more')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.locator('.conflict').waitFor()
    },
  },
  'edit-failed': { scene: 'failing', address: '#/limiter/mail/edit' },
  'start-trial': { scene: 'incident', address: '#/limiter/api', reach: button(/^Try \d/) },
  approve: { scene: 'incident', address: '#/limiter/search', reach: button('Approve') },
  lookup: { scene: 'incident', address: '#/client?q=198.51.100.10' },
  'lookup-network': { scene: 'incident', address: '#/client?q=203.0.113.0%2F24' },
  row: {
    scene: 'many',
    address: '#/',
    reach: (page) =>
      page
        .locator('.row:has(.bar:not(:empty))')
        .first()
        .hover({ position: { x: 40, y: 10 } }),
  },
  disconnected: {
    scene: 'incident',
    address: '#/limiter/search',
    async reach(page) {
      const error = 'Too many pages are open. Close one of them.'
      await page.route('**/stream*', (route) => route.fulfill({ status: 503, json: { error } }))
      await page.evaluate(`location.hash = '#/limiter/login'`)
      await page.locator('#connection', { hasText: error }).waitFor()
    },
  },
  ...Object.fromEntries(
    ['checkout', 'login', 'search', 'uploads', 'graphql', 'webhooks', 'exports', 'admin', 'mail', 'api'].map(
      (name) => [
        `trial-${name}`,
        {
          scene: 'incident',
          address: `#/limiter/${name}`,
          reach: (page: Page) => page.locator('[data-panel=trial]').scrollIntoViewIfNeeded(),
        },
      ],
    ),
  ),
}
