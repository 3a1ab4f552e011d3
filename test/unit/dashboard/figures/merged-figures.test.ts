import { Latency } from '../../../../src/dashboard/figures/latency.js'
import { mergeReports } from '../../../../src/dashboard/figures/merge.js'
import { reportOf } from './reports.js'

const NOW_MS = 1_790_000_000_000

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
