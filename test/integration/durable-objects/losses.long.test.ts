import { setTimeout as pause } from 'node:timers/promises'
import { printTable, whole } from '../../bench/harness/table.js'
import { faultsIn, newTally, unknownIn } from '../../support/tally.js'
import { abortObjects, CHARGES, type Figures, figuresOf, KEYS, LIMIT } from './losses.js'
import { startWorkers, type Workers } from './start.js'
import type { Seen } from './worker.js'

let workers: Workers
beforeEach(async () => {
  workers = await startWorkers()
})
afterEach(() => workers?.running.close())

describe('objects that are reset again and again under load', () => {
  const all = ({ sent }: Figures) => sent >= 6000
  const rows: string[][] = []
  afterAll(() => {
    const head = ['objects', 'charges', 'allowed', 'unknown', 'lost', 'counted twice']
    printTable('Durable Objects in workerd, reset again and again under load', head, rows)
  })

  test.each([
    ['without writeDelay', {}],
    ["writeDelay: '1s'", { writeDelay: '1s' }],
  ] as const)(
    'lose only what they had not written yet: %s',
    async (name, options) => {
      const figures = await figuresOf(workers, abortObjects, all, options)
      const { sent, allowed, unknown, lost, doubled } = figures
      rows.push([name, ...[sent, allowed, unknown, lost, doubled].map(whole)])
      expect({ doubled, hasLost: lost > 0 }).toEqual({ doubled: 0, hasLost: 'writeDelay' in options })
      expect(unknown).toBeGreaterThan(0)
    },
    120_000,
  )
})

test('a workerd that is killed under load has lost nothing when it is back', async () => {
  const parameters = { limit: LIMIT, keys: KEYS, charges: CHARGES, callers: 20 }
  const tally = newTally()
  const until = Date.now() + 3000
  async function call(): Promise<void> {
    while (Date.now() < until) {
      tally.sent++
      const seen = await workers
        .ask<Seen>('/load', { ...parameters, charges: 1, callers: 1 })
        .catch(() => undefined)
      tally.allowed += seen?.allowed ?? 0
      tally.denied += seen?.denied ?? 0
    }
  }
  const calls = Array.from({ length: 20 }, call)
  await pause(1500)
  await workers.running.process.kill('SIGKILL')
  await workers.running.process.restart()
  await Promise.all(calls)
  const used = await workers.ask<number>('/used', { limit: LIMIT, keys: KEYS })
  expect(tally.allowed).toBeGreaterThan(0)
  expect(unknownIn(tally)).toBeGreaterThan(0)
  expect(faultsIn(tally, used)).toEqual({ lost: 0, doubled: 0 })
}, 120_000)
