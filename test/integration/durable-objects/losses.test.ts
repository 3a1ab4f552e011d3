import { abortObjects, lossesUnder } from './losses.js'
import { startWorkers, type Workers } from './start.js'

let workers: Workers
beforeEach(async () => {
  workers = await startWorkers()
})
afterEach(() => workers?.running.close())

test('objects that are reset under load lose nothing, and count nothing twice', async () => {
  const losses = await lossesUnder(workers, abortObjects, ({ unknown }) => unknown > 0)
  expect(losses).toMatchObject({ lost: 0, doubled: 0 })
  expect(losses.unknown).toBeGreaterThan(0)
}, 120_000)
