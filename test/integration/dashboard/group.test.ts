import { leased, type Store } from 'headgate'
import { mergeReports } from '../../../src/dashboard/figures/merge.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { STORES, type Started } from '../store-kinds.js'
import { dashboardProcess } from './dashboard-process.js'

const LIMIT = 10
const STEP_MS = 300_000
const KINDS = STORES.filter(({ name }) => name !== 'memory')

describe.each(KINDS)('on $name', (kind) => {
  let started: Started
  let nowMs = Math.floor(Date.now() / STEP_MS) * STEP_MS
  const ends: (() => Promise<void>)[] = []
  beforeAll(async () => {
    started = await kind.start()
  }, INSTALL_TIMEOUT_MS)
  afterAll(async () => {
    for (const end of ends) await end()
    await started?.stop()
  })

  async function startProcess(id: string, wrap = (store: Store) => store) {
    const store = wrap(await started.makeStore())
    const process = dashboardProcess(id, { store, limit: LIMIT, clock: () => nowMs })
    ends.push(process.stop)
    return process
  }

  test('processes add up what all count, and keep it: figures, events, and the history of a day', async () => {
    const processes = [
      await startProcess('one'),
      await startProcess('two', (store) => leased(store)),
    ] as const
    const [one, two] = processes
    for (let i = 0; i < 7; i++) await one.limiter.charge('ada')
    for (let i = 0; i < 8; i++) await two.limiter.charge('ada')
    await Promise.all(processes.map(({ group }) => group.tick()))
    for (const { watch, group } of processes) {
      await group.refresh()
      expect([group.problem(), group.recordProblem()]).toEqual([undefined, undefined])
      const others = group.members().flatMap(({ reports = [] }) => reports)
      const { limits } = mergeReports([watch.report(), ...others])
      expect(limits.map(({ allowed, denied }) => [allowed, denied])).toEqual([[LIMIT, 5]])
    }
    nowMs += STEP_MS + 60_000
    for (let i = 0; i < 2; i++) await Promise.all(processes.map(({ group }) => group.tick()))
    const third = await startProcess('three')
    await third.group.refresh()
    const history = third.group.histories.get('api')
    expect(await history?.steps()).toMatchObject([{ allowed: LIMIT, denied: 5 }])
    expect(await history?.demands()).toMatchObject([
      { clients: 1, demands: [{ peak: 15, weight: 1, wasDenied: true }] },
    ])
    expect(third.group.log.events().map(({ kind }) => kind)).toEqual(['process-seen', 'process-seen'])
  })
})
