import { type Store, sharedSettings } from 'headgate'
import { withDemands } from '../../src/dashboard/shared/demand/add-demands.js'
import { DEMAND_CODEC } from '../../src/dashboard/shared/demand/demand-codec.js'
import { demandKey } from '../../src/dashboard/shared/demand/demand-document.js'
import { STEP_MS } from '../../src/dashboard/shared/steps.js'
import type { Documents } from '../../src/stores/documents.js'
import { sharedTrials } from '../../src/tuning/trial/shared-trials.js'
import { DistinctCounter } from '../../src/util/distinct-sample.js'
import { sharedDocuments, sharedStore } from '../unit/dashboard/shared/shared-documents.js'
import { demandSince } from '../unit/tuning/trial/trial-processes.js'
import { useStage } from './dashboard-operator.js'
import { findings, takePicture } from './dashboard-page.js'

const setStage = useStage()
const DAY_MS = 86_400_000
const HOSTILE = '<img src=x onerror=alert(1)>'

/** A store in which dashboards have counted 400 clients of a limit of 3 for a day, and one that is hostile. */
async function countedStore(): Promise<Store & { readonly documents: Documents }> {
  const { documents } = sharedDocuments()
  const clients = new DistinctCounter(1000)
  const asked = [
    ...Array.from({ length: 400 }, (_, i) => [`client-${i}`, 8] as const),
    [HOSTILE, 900] as const,
  ]
  const demands = asked.map(([identity, peak]) => {
    clients.add(identity)
    return { identity, peaks: [peak], seen: 0, wasDenied: true }
  })
  const last = Math.floor(Date.now() / STEP_MS) - 1
  const steps = [last - 250, last].map((step) => ({
    ...{ step, allowed: 0, denied: 0 },
    demands: [
      {
        limitName: 'api',
        policy: { kind: 'fixed-window', limit: 3, windowMs: 3_600_000 } as const,
        clients,
        demands,
      },
    ],
  }))
  const text = JSON.stringify({
    headgate: 1,
    ...DEMAND_CODEC.encode(withDemands(undefined, 'x', steps) as never),
  })
  await documents.replace(demandKey('hg', 'api'), text, undefined)
  return { ...sharedStore(documents), documents }
}

test('a proposed limit is tried, approved and stopped on the page, with a reason', async () => {
  const store = await countedStore()
  const stage = await setStage(store)
  const { page, troubles } = await stage.open('#/limiter/api')
  const panel = page.locator('[data-panel=trial]')
  await panel.getByText('api: raise 3 to').waitFor()
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'trial-proposal')
  await panel.getByRole('button', { name: /^Try \d+/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Limit, instead of 3').fill('20')
  expect(await dialog.getByLabel('Reason').inputValue()).toMatch(/^400 of 401 clients asked for at most 8/)
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'trial-start')
  await dialog.getByRole('button', { name: 'Start the trial' }).click()
  await page.getByRole('status').getByText('Started a trial of 20 for api in api.').waitFor()
  await panel.getByText(/The limit of 20 for api runs as a candidate for 1d, until/).waitFor()
  expect(await panel.getByRole('button').allTextContents()).toEqual(['Stop'])

  const now = () => Date.now() + DAY_MS
  await sharedTrials(store, sharedSettings(store), { now }).advance('api', demandSince(0, now()))
  await page.reload()
  await panel.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
  await panel.getByText(/The limit of 20 for api is in force/).waitFor()
  expect((await stage.settings.read('api')).limits).toEqual({ api: { limit: 20 } })
  expect(await findings(page)).toEqual([])
  await takePicture(page, 'trial-guarding')
  await panel.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await panel.getByText(/The trial of the limit of 20 for api has ended, because it was stopped/).waitFor()
  expect(await stage.settings.changes('api')).toMatchObject([{ by: 'ines' }, { by: 'ines' }, { by: 'ines' }])
  expect(troubles).toEqual([])
})

test('a visitor who must not change anything sees proposals, and no buttons', async () => {
  const stage = await setStage(await countedStore())
  const { page, troubles } = await stage.open('#/limiter/api', '')
  const panel = page.locator('[data-panel=trial]')
  await panel.getByText('api: raise 3 to').waitFor()
  expect(await panel.getByRole('button').count()).toBe(0)
  expect(await page.locator('img[src=x]').count()).toBe(0)
  expect(troubles).toEqual([])
})
