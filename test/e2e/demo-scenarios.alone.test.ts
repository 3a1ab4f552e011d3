import type { Page } from 'playwright-core'
import { testTogether } from '../support/servers/together.js'
import { until } from '../support/servers/wait.js'
import {
  choose,
  type OpenDemo,
  show,
  textOf,
  untilNumber,
  untilSeen,
  untilSent,
  useDemos,
} from './demo-page.js'

jest.setTimeout(60_000)

const open = useDemos()

/** Runs a scenario on a page of its own, which is closed at once: an open page goes on sending. */
const onPage = (run: (demo: OpenDemo) => Promise<void>, prepare?: (page: Page) => unknown) => async () => {
  const demo = await open({}, prepare)
  await run(demo).finally(demo.close)
}

/** Waits until no request has been sent for more than half a second: the page peeks each quarter. */
async function untilQuiet({ paths }: OpenDemo): Promise<void> {
  let before = -1
  const isQuiet = () => {
    const isSame = paths.length === before
    before = paths.length
    return isSame
  }
  await until('no request is sent', isQuiet, { everyMs: 600 })
}

/** Waits until more requests are sent. */
async function untilBusy({ paths }: OpenDemo): Promise<void> {
  const before = paths.length
  await until('requests are sent', () => paths.length > before + 3)
}

async function pauses(demo: OpenDemo): Promise<void> {
  const { page } = demo
  await untilSent(page, 1)
  await page.locator('#pause').click()
  await untilQuiet(demo)
  await page.locator('#pause').click()
  await untilBusy(demo)
  const hide = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`)
  await hide(true)
  await untilQuiet(demo)
  await hide(false)
  await untilBusy(demo)
}

async function ends(demo: OpenDemo): Promise<void> {
  const { page } = demo
  await untilSent(page, 1)
  await page.clock.fastForward('03:01')
  await page.locator('#policies [data-run-hint]', { hasText: 'Stopped after three minutes.' }).waitFor()
  await untilQuiet(demo)
  await page.locator('#policies').getByRole('button', { name: 'Continue' }).click()
  await untilBusy(demo)
}

async function reconnects(demo: OpenDemo): Promise<void> {
  const { page, stopServer, troubles } = demo
  await untilSent(page, 1)
  const startServer = await stopServer()
  await page.locator('#offline', { hasText: 'The server does not answer.' }).waitFor()
  await startServer()
  await page.locator('#offline').waitFor({ state: 'hidden' })
  await untilBusy(demo)
  expect(troubles).toEqual([])
}

async function attacksFromManyAddresses({ page, troubles }: OpenDemo): Promise<void> {
  await show(page, '#login')
  await untilNumber(page, '#guesses-sent', 60)
  await page.locator('#known-worked', { hasText: /^([2-9]) of \1$/ }).waitFor()
  await page.locator('#new-worked', { hasText: /^0 of [1-9]$/ }).waitFor()
  expect(await textOf(page, '#guesses-checked')).toBe('10')
  expect(await page.locator('#attack-chart .worked').getAttribute('d')).toMatch(/^M/)
  expect(troubles).toEqual([])
}

async function attacksFromOneAddress({ page }: OpenDemo): Promise<void> {
  await show(page, '#login')
  await choose(page, 'One address')
  await untilNumber(page, '#guesses-sent', 40)
  await page.locator('#new-worked', { hasText: /^([1-9]) of \1$/ }).waitFor()
  expect(await textOf(page, '#guesses-checked')).toBe('5')
}

async function losesItsStore({ page, troubles }: OpenDemo, mode: 'Rejects' | 'Hangs'): Promise<void> {
  await show(page, '#outage')
  const lane = (name: string, state: string) => untilSeen(page, `[data-outage-lane=${name}]${state}`)
  for (const name of ['allow', 'deny', 'local']) await lane(name, '[data-last="429"]')
  await choose(page, mode)
  await lane('allow', '.is-open[data-last="200"]')
  await lane('deny', '.is-open[data-last="503"]')
  await lane('local', '.is-open[data-last="429"]')
  await choose(page, 'Store on')
  const recovery = /^All breakers closed \d\.\d s after the store came back\.$/
  await page.locator('#outage-note', { hasText: recovery }).waitFor()
  await lane('deny', ':not(.is-open)[data-last="429"]')
  expect(troubles).toEqual([])
}

testTogether(
  [
    ['the traffic pauses on demand and in a hidden tab, and goes on', onPage(pauses)],
    [
      'the traffic ends after three minutes, until somebody continues',
      onPage(ends, (page) => page.clock.install()),
    ],
    ['the page says that the server is gone, and goes on when it is back', onPage(reconnects)],
    [
      'Ada gets in at a known browser while guesses from many addresses are refused',
      onPage(attacksFromManyAddresses),
    ],
    ['Ada gets in anywhere while one address is refused', onPage(attacksFromOneAddress)],
    [
      'a store that rejects: clients get 200, 503 and local 429, and it recovers',
      onPage((demo) => losesItsStore(demo, 'Rejects')),
    ],
    [
      'a store that hangs: clients get 200, 503 and local 429, and it recovers',
      onPage((demo) => losesItsStore(demo, 'Hangs')),
    ],
  ],
  { atOnce: 3 },
)
