import { setTimeout as pause } from 'node:timers/promises'
import { faultsIn, newTally, unknownIn } from '../../support/tally.js'
import { abortObjects, CHARGES, figuresOf, KEYS, LIMIT } from './losses.js'
import { startWorkers, type Workers } from './start.js'
import type { Seen } from './worker.js'

let workers: Workers
beforeEach(async () => {
  workers = await startWorkers()
})
afterEach(() => workers?.running.close())

test('with writeDelay, objects that are reset lose what they had not written yet', async () => {
  const figures = await figuresOf(workers, abortObjects, ({ lost }) => lost > 0, { writeDelay: '1s' })
  expect(figures.doubled).toBe(0)
  expect(figures.lost).toBeGreaterThan(0)
}, 120_000)

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
