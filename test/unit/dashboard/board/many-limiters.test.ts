import { createLimiter, fixedWindow } from 'headgate'
import { boardOf } from '../../../../src/dashboard/board/board.js'
import { watchAll } from '../../../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { sharedDocuments, sharedStore } from '../shared/shared-documents.js'

const SECONDS = 60

/** Returns how often the figures change, and how often they are reported, in a minute with an open page. */
async function changesInAMinute(limiterCount: number, denying: number) {
  jest.useFakeTimers({ now: 1_790_000_000_000, doNotFake: ['nextTick', 'setImmediate'] })
  const shared = sharedDocuments()
  const store = sharedStore(shared.documents)
  const limiters = Array.from({ length: limiterCount }, (_, i) => {
    const policy = fixedWindow({ limit: 1, window: '1d' })
    return createLimiter<string>({ name: `limiter-${i}`, policy, key: (id) => id, store })
  })
  const board = boardOf(
    watchAll(
      limiters.map((limiter) => {
        return { name: limiter.name ?? '', limiter, inspection: inspectionOf(limiter) as Inspection }
      }),
    ),
  )
  let [figures, latest] = [0, board.rows()]
  for (let second = 0; second < SECONDS; second++) {
    for (const limiter of limiters.slice(0, denying)) for (let i = 0; i < 2; i++) await limiter.charge('ada')
    if (second % 2 === 0) await board.tick()
    await board.refresh()
    if (board.rows() !== latest) figures++
    latest = board.rows()
    jest.setSystemTime(Date.now() + 1000)
  }
  await board.stop()
  jest.useRealTimers()
  return { figures, reports: shared.written.filter(({ key }) => key.includes('dashboard:processes')).length }
}

test.each([
  ['few limiters', 5, 5, 60, 30],
  ['many limiters, few of which deny', 60, 5, 30, 30],
  ['many limiters that deny', 60, 60, 15, 15],
])('figures and reports are made so often that they cost little: %s', async (_what, ...numbers) => {
  const [limiterCount, denying, figures, reports] = numbers
  const made = await changesInAMinute(limiterCount, denying)
  expect(Math.abs(made.figures - figures)).toBeLessThanOrEqual(1)
  expect(Math.abs(made.reports - reports)).toBeLessThanOrEqual(2)
})
