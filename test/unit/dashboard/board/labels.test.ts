import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createLimiter, fixedWindow, logEvents } from 'headgate'
import { prometheusMetrics } from 'headgate/metrics'
import prometheus from 'prom-client'
import { type Board, boardOf } from '../../../../src/dashboard/board/board.js'
import { watchAll } from '../../../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { sharedDocuments, sharedStore } from '../shared/shared-documents.js'

const START_MS = 1_790_000_100_000
const LABEL = 'Northwind Traders'
const CHANNELS = ['headgate:decision', 'headgate:store', 'headgate:failure', 'headgate:candidate']

const shared = sharedDocuments()
const told: unknown[] = []
const hear = (message: unknown) => void told.push(message)
const boards: Board[] = []

beforeAll(() => {
  jest.useFakeTimers({ now: START_MS })
  for (const name of CHANNELS) subscribe(name, hear)
})
afterAll(async () => {
  for (const name of CHANNELS) unsubscribe(name, hear)
  jest.useRealTimers()
  for (const board of boards) await board.stop()
})

/** A process with a dashboard, as one of several behind a balancer. */
function startProcess() {
  const policy = fixedWindow({ limit: 5, window: '1h' })
  const store = sharedStore(shared.documents)
  const limiter = createLimiter<string>({ name: 'api', policy, key: (id) => id, store })
  logEvents(limiter, { debug: hear, info: hear, warn: hear })
  const watched = { name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection }
  const board = boardOf(watchAll([watched], () => LABEL))
  boards.push(board)
  return { limiter, board }
}

test('a label is on the page of the process that has seen it, and nowhere else', async () => {
  const register = new prometheus.Registry()
  const stop = prometheusMetrics({ ...prometheus, register } as typeof prometheus)
  const { limiter, board } = startProcess()
  for (let i = 0; i < 400; i++) await limiter.charge('acme')
  for (let i = 0; i < 15; i++) {
    jest.setSystemTime(START_MS + i * 30_000) // a step of the history ends
    await limiter.charge('acme')
    await jest.advanceTimersByTimeAsync(2000)
    await board.refresh()
  }
  board.record({ kind: 'block', text: 'a test', limiter: 'api' })
  await jest.advanceTimersByTimeAsync(4000)
  const [row] = board.rows()
  expect(row?.finding.sentence).toContain(LABEL)
  expect(row?.finding.reason).toMatch(/^\w+ has been at its limit of 5 per 1h since/)
  expect(board.detail('api')?.denied).toMatchObject([{ label: LABEL }])
  const elsewhere = {
    stored: [...shared.texts, ...shared.written.map(({ text }) => text)],
    events: board.events(),
    history: await board.history('api'),
    demands: await board.demands('api'),
    metrics: await register.metrics(),
    told,
  }
  const lengths = Object.values(elsewhere).map((each) => JSON.stringify(each).length)
  expect(Math.min(...lengths)).toBeGreaterThan(100) // there is something in each
  expect(JSON.stringify(elsewhere)).not.toContain('Northwind')
  stop()
})
