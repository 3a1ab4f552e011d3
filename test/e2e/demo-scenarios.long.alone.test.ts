import { testTogether } from '../support/servers/together.js'
import { POLICIES } from './demo-examples.js'
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

const { open, onPage } = useDemos()

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
  { atOnce: 4 },
)

test('the first view is alive within two seconds, without a click', async () => {
  const { page, troubles } = await open()
  expect(await (await untilSent(page, 1)).jsonValue()).toBeLessThan(2000)
  expect(await page.locator('[data-lane]').count()).toBe(POLICIES.length)
  await untilSent(page, 11) // a burst of eight, and some of the next
  await page.locator('[data-lane=sliding-window].is-empty [data-next]', { hasText: /^retry in \d/ }).waitFor()
  expect(await textOf(page, '[data-lane=sliding-window] [data-allowed]')).toBe('10')
  await page.locator('[data-lane=sliding-window] path.denied[d^=M]').waitFor({ state: 'attached' })
  expect(troubles).toEqual([])
})
