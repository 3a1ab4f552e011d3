import { createLimiter, fixedWindow, type Limiter, memoryStore, type Store } from 'headgate'
import { boardOf } from '../../../../src/dashboard/figures/board.js'
import { Latency } from '../../../../src/dashboard/figures/latency.js'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import { mergeReports } from '../../../../src/dashboard/figures/merge.js'
import { sharedReports } from '../../../../src/dashboard/figures/shared-reports.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { reportOf, trafficOf } from './reports.js'
import { sharedDocuments, sharedStore } from './shared-documents.js'

const NOW_MS = 1_790_000_000_000

function watchOf(name: string, store: Store): LimiterWatch {
  const policy = fixedWindow({ limit: 5, window: '1h' })
  const limiter = createLimiter<string>({ name, policy, key: (id) => id, store }) as Limiter<never>
  return new LimiterWatch({ name, limiter, inspection: inspectionOf(limiter) as Inspection })
}

describe('a board', () => {
  beforeEach(() => void jest.useFakeTimers({ now: NOW_MS }))
  afterEach(() => jest.useRealTimers())

  test('reports to other processes every two seconds, for those limiters whose store carries it', async () => {
    const { documents, written } = sharedDocuments()
    const board = boardOf([watchOf('local', memoryStore()), watchOf('shared', sharedStore(documents))])
    await jest.advanceTimersByTimeAsync(1999)
    expect(written).toHaveLength(0)
    await jest.advanceTimersByTimeAsync(1)
    expect(written.map((note) => JSON.parse(note).report.name)).toEqual(['shared'])
    board.stop()
    await jest.advanceTimersByTimeAsync(60_000)
    expect(written).toHaveLength(1)
  })

  test('adds what others reported at the last refresh', async () => {
    const note = (process: string, calls: number) => {
      const report = reportOf()
      return JSON.stringify({
        process,
        atMs: Date.now(),
        report: { ...report, store: { ...report.store, calls } },
      })
    }
    const { documents, texts } = sharedDocuments()
    texts.push(note('a', 3), note('b', 4))
    const board = boardOf([watchOf('shared', sharedStore(documents))])
    const shown = () => board.snapshot().limiters.map(({ processes, store }) => [processes, store.calls])
    expect(shown()).toEqual([[1, 0]])
    await board.refresh()
    expect(shown()).toEqual([[3, 7]])
    board.stop()
  })
})

test('a process reports again once it has counted more, though nothing but its traffic has changed', async () => {
  const { documents, written } = sharedDocuments()
  let traffic = trafficOf(100, [])
  const inspection = { store: sharedStore(documents), limiterScope: 'hg-api' } as unknown as Inspection
  const reports = sharedReports({ inspection, report: () => reportOf({ traffic }) }, () => NOW_MS, 'a')
  const writesAfter = async (next: typeof traffic) => {
    traffic = next
    await reports?.publish()
    return written.length
  }
  expect(await writesAfter(trafficOf(100, []))).toBe(1)
  expect(await writesAfter(trafficOf(101, []))).toBe(1)
  expect(await writesAfter(trafficOf(101, [1]))).toBe(2)
  expect(await writesAfter(trafficOf(101, [1], [1]))).toBe(3)
  expect(await writesAfter(trafficOf(102, [1, 0], [1, 0]))).toBe(3)
  expect(await writesAfter(trafficOf(102, [1, 1], [1, 0]))).toBe(4)
})

test('a span of calls begins with the first call after 30 seconds', () => {
  const latency = new Latency()
  const callsAt = (afterMs: number) => latency.report(NOW_MS + afterMs).calls
  latency.measure(NOW_MS, 1, false)
  latency.measure(NOW_MS + 30_000, 1, false)
  expect(callsAt(59_999)).toBe(2)
  expect(callsAt(60_000)).toBe(1)
  expect(callsAt(90_000)).toBe(0)
})

test('ten of the clients that a candidate would deny most are listed, of all processes together', () => {
  const triedBy = (from: number) => {
    const numbers = Array.from({ length: 8 }, (_, i) => from + i)
    const mostDenied = numbers.map((denied) => ({ identity: `client-${denied}`, denied }))
    const sums = { requests: 1, clients: 8, denied: 1, deniedClients: 8, newlyDenied: 1, newlyAllowed: 0 }
    const limits = [{ name: 'api', denied: 1, excessUnits: 1, deniedClients: 8, mostDenied }]
    return reportOf({
      candidate: { sinceMs: 1, ...sums, failed: 0, limits },
      candidateClients: { clients: numbers, deniedClients: numbers, limits: [numbers] },
    })
  }
  const [limit] = mergeReports([triedBy(0), triedBy(4)]).candidate?.limits ?? []
  expect(limit?.mostDenied.map(({ denied }) => denied)).toEqual([14, 12, 11, 10, 10, 9, 8, 8, 3, 2])
  expect(limit?.deniedClients).toBe(12)
})
