import { setTimeout as pause } from 'node:timers/promises'
import { lossesOf, newTally, type RecordLosses, type Tally } from '../../support/tally.js'
import { abortObjects, KEYS, LIMIT, lossesUnder } from './losses.js'
import { startWorkers, type Workers } from './start.js'
import type { Seen } from './worker.js'

/** Charges by 20 callers for three seconds, amid which workerd is killed and started again. */
async function chargeAndKill(workers: Workers): Promise<Tally> {
  const parameters = { limit: LIMIT, keys: KEYS, charges: 1, callers: 1 }
  const tally = newTally()
  const until = Date.now() + 3000
  async function call(): Promise<void> {
    while (Date.now() < until) {
      tally.sent++
      const seen = await workers.ask<Seen>('/load', parameters).catch(() => undefined)
      tally.allowed += seen?.allowed ?? 0
      tally.denied += seen?.denied ?? 0
    }
  }
  const calls = Array.from({ length: 20 }, call)
  await pause(1500)
  await workers.running.process.kill('SIGKILL')
  await workers.running.process.restart()
  await Promise.all(calls)
  return tally
}

/** Defines the tests of objects that are reset, and of a workerd that is killed, under load. */
export function describeObjectLosses(record: RecordLosses): void {
  let workers: Workers
  beforeEach(async () => {
    workers = await startWorkers()
  })
  afterEach(() => workers?.running.close())

  test.each([
    ['objects reset', {}],
    ["objects reset, `writeDelay: '1s'`", { writeDelay: '1s' }],
  ] as const)(
    'only what was not written yet is lost: %s',
    async (failure, options) => {
      const losses = await lossesUnder(workers, abortObjects, ({ sent }) => sent >= 6000, options)
      record(failure, losses)
      const { doubled, lost, unknown } = losses
      expect({ doubled, hasLost: lost > 0 }).toEqual({ doubled: 0, hasLost: 'writeDelay' in options })
      expect(unknown).toBeGreaterThan(0)
    },
    120_000,
  )

  test('a workerd that is killed under load has lost nothing when it is back', async () => {
    const tally = await chargeAndKill(workers)
    const losses = lossesOf(tally, await workers.ask<number>('/used', { limit: LIMIT, keys: KEYS }))
    record('workerd killed', losses)
    expect(losses).toMatchObject({ lost: 0, doubled: 0 })
    expect(losses.allowed).toBeGreaterThan(0)
    expect(losses.unknown).toBeGreaterThan(0)
  }, 120_000)
}
