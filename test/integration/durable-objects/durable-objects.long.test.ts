import { setTimeout as pause } from 'node:timers/promises'
import { startWorkers, type Workers } from './start.js'
import type { Seen } from './worker.js'

let workers: Workers
beforeAll(async () => {
  workers = await startWorkers()
}, 60_000)
afterAll(() => workers?.running.close())

test.each([{}, { writeDelay: '1s' }])(
  'the store keeps the contract of stores, in workerd, with %j',
  async (options) => {
    const { cases, failures } = await workers.ask<{ cases: number; failures: string[] }>('/conformance', {
      extent: 'all',
      options: JSON.stringify(options),
    })
    expect(failures).toEqual([])
    expect(cases).toBeGreaterThan(300)
  },
  600_000,
)

test('an object that workerd evicts, as it does after ten seconds without a request, has lost nothing', async () => {
  const parameters = { limit: 1000, keys: 1, charges: 10, isolate: 1 }
  const { allowed } = await workers.ask<Seen>('/load', parameters)
  const [, object] = /(limits-\d+)/.exec(await workers.ask<string>('/owner')) ?? []
  const rowsBefore = await workers.ask<{ rowsWritten: number }>('/usage', { object: object ?? '' })
  expect(rowsBefore.rowsWritten).toBeGreaterThanOrEqual(allowed)
  await pause(15_000)
  const rowsAfter = await workers.ask<{ rowsWritten: number }>('/usage', { object: object ?? '' })
  expect(rowsAfter.rowsWritten).toBeLessThan(allowed) // it was created anew
  expect(await workers.ask<number>('/used', { limit: 1000, keys: 1 })).toBeGreaterThanOrEqual(allowed)
}, 60_000)
