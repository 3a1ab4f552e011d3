import { fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { storeExactness } from 'headgate/testing'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { startWorkers, type Workers } from './start.js'
import type { Seen } from './worker.js'

let workers: Workers
let program: Bundle
beforeAll(async () => {
  program = await bundle(join(__dirname, 'charging-process.ts'))
  workers = await startWorkers()
}, 60_000)
afterAll(async () => {
  await workers?.running.close()
  await program?.remove()
})

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

const cases = storeExactness({
  startProcess: () => fork(program.path, [workers.running.url], { silent: true }),
  capabilities: { atomicAcrossKeys: false },
  timeout: '5m',
})
test.each(cases)('$name', ({ run }) => run(), 320_000)

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
