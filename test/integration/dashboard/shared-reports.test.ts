import { createLimiter, fixedWindow, leased, type Store } from 'headgate'
import { LimiterWatch } from '../../../src/dashboard/figures/limiter-watch.js'
import { mergeReports } from '../../../src/dashboard/figures/merge.js'
import { type SharedReports, sharedReports } from '../../../src/dashboard/figures/shared-reports.js'
import { type Inspection, inspectionOf } from '../../../src/limiter/inspection.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { STORES, type Started } from '../store-kinds.js'

const LIMIT = 10
const KINDS = STORES.filter(({ name }) => name !== 'memory')

describe.each(KINDS)('on $name', (kind) => {
  let started: Started
  const ends: (() => Promise<void>)[] = []
  beforeAll(async () => {
    started = await kind.start()
  }, INSTALL_TIMEOUT_MS)
  afterAll(async () => {
    for (const end of ends) await end()
    await started?.stop()
  })

  /** Starts a process with a dashboard: a limiter on a client of its own, and its reports. */
  async function startProcess(name: string, wrap = (store: Store) => store) {
    const policy = fixedWindow({ limit: LIMIT, window: '1h' })
    const store = wrap(await started.makeStore())
    const limiter = createLimiter<string>({ name: 'api', policy, key: (id) => id, store, timeout: '5s' })
    const watch = new LimiterWatch({ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection })
    ends.push(async () => {
      watch.stop()
      await limiter.close()
    })
    const reports = sharedReports(watch, Date.now, name) as SharedReports
    return { limiter, watch, reports }
  }

  test('each of two processes adds up both, report for report', async () => {
    const processes = [await startProcess('one'), await startProcess('two', (store) => leased(store))]
    const [one, two] = processes as [(typeof processes)[0], (typeof processes)[0]]
    for (let i = 0; i < 7; i++) await one.limiter.charge('ada')
    for (let i = 0; i < 8; i++) await two.limiter.charge('ada')
    await Promise.all([one.reports.publish(), two.reports.publish()])
    for (const { watch, reports } of processes) {
      await reports.refresh()
      expect(reports.problem()).toBeUndefined()
      expect(reports.processes()).toBe(2)
      const { limits } = mergeReports([watch.report(), ...reports.others()])
      expect(limits.map(({ allowed, denied }) => [allowed, denied])).toEqual([[LIMIT, 5]])
    }
    await two.limiter.charge('ada')
    await two.reports.publish()
    await one.reports.refresh()
    const { limits } = mergeReports([one.watch.report(), ...one.reports.others()])
    expect(limits.map(({ allowed, denied }) => [allowed, denied])).toEqual([[LIMIT, 6]])
  })
})
