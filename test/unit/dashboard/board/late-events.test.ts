import fc from 'fast-check'
import { createLimiter, fixedWindow } from 'headgate'
import { watchEvents } from '../../../../src/dashboard/board/event-sources.js'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import { Group } from '../../../../src/dashboard/shared/group.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { StoreError } from '../../../../src/stores/store-error.js'
import { type SharedDocuments, sharedDocuments, sharedStore } from '../shared/shared-documents.js'

const START_MS = 1_790_000_000_000
const down = new StoreError('redis', 'no reply')

/** A process whose clock is ahead, and which notices some time later what happens to the store. */
interface Habits {
  readonly aheadMs: number
  readonly noticesMs: number
}

/** Processes on one store, with a clock that stands still until it is told. */
function fleet(shared: SharedDocuments, habits: readonly Habits[]) {
  let nowMs = START_MS
  const processes = habits.map(({ aheadMs, noticesMs }, i) => {
    const store = sharedStore(shared.documents)
    const policy = fixedWindow({ limit: 1, window: '1h' })
    const limiter = createLimiter<string>({ name: 'api', policy, key: (id) => id, store })
    const watch = new LimiterWatch({ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection })
    const options = { store: 'redis', prefix: 'hg', documents: shared.documents, isShared: true }
    const group = new Group({ ...options, watches: [watch], dashboard: 0 })
    const events = watchEvents(group, () => nowMs + aheadMs, `process-${i}-0`)
    return { limiter, group, noticesMs, parts: [events, watch] }
  })
  /** Each process notices, in the order of its delays. */
  function notice(atMs: number, state: 'open' | 'closed'): void {
    for (const { limiter, noticesMs } of [...processes].sort((a, b) => a.noticesMs - b.noticesMs)) {
      nowMs = atMs + noticesMs
      limiter.events.emit('storeState', state, down)
    }
  }
  async function flush(order: readonly number[]): Promise<void> {
    for (const i of order) await processes[i]?.group.log.flush()
  }
  async function logged() {
    await processes[0]?.group.log.read()
    return (processes[0]?.group.log.events() ?? []).map(
      ({ details, atMs }) => [String(details?.state), atMs] as const,
    )
  }
  function end(): void {
    for (const { parts } of processes) for (const each of parts) each.stop()
  }
  return { processes, notice, flush, logged, end }
}

const COUNT = 4
const habits = fc.record({
  aheadMs: fc.integer({ min: -4000, max: 4000 }),
  noticesMs: fc.integer({ min: 0, max: 3000 }),
})
const order = fc.shuffledSubarray([0, 1, 2, 3], { minLength: COUNT })

test('an outage that all processes see is two events, whatever their clocks, and whoever writes when the store is back', async () => {
  const anyFleet = fc.array(habits, { minLength: COUNT, maxLength: COUNT })
  const lengthMs = fc.integer({ min: 8000, max: 3_600_000 })
  const outage = async (
    each: readonly Habits[],
    ms: number,
    first: readonly number[],
    second: readonly number[],
  ) => {
    const { notice, flush, logged, end } = fleet(sharedDocuments(), each)
    notice(START_MS, 'open') // nothing can be written
    notice(START_MS + ms, 'closed')
    await flush(first)
    await flush(second)
    expect((await logged()).map(([state]) => state)).toEqual(['open', 'closed'])
    end()
  }
  await fc.assert(fc.asyncProperty(anyFleet, lengthMs, order, order, outage), { numRuns: 60 })
})

test('the first to write logs the end before the others have logged the beginning', async () => {
  const shared = sharedDocuments()
  const { processes, notice, flush, logged, end } = fleet(shared, [
    { aheadMs: 0, noticesMs: 900 },
    { aheadMs: 3000, noticesMs: 0 },
    { aheadMs: -2500, noticesMs: 40 },
    { aheadMs: 0, noticesMs: 240_000 }, // nobody sent it a request before
  ])
  shared.set('hang')
  notice(START_MS, 'open')
  const hanging = processes.map(({ group }) => group.log.flush())
  shared.set('none')
  notice(START_MS + 300_000, 'closed')
  await Promise.all(hanging)
  await flush([0, 3, 1, 2])
  expect(await logged()).toEqual([
    ['open', START_MS + 40 - 2500],
    ['closed', expect.any(Number)],
  ])
  end()
})

test('what one process tells twice has happened twice, however soon', async () => {
  const { notice, flush, logged, end } = fleet(sharedDocuments(), [
    { aheadMs: 0, noticesMs: 0 },
    { aheadMs: 0, noticesMs: 100 },
  ])
  for (const [atMs, state] of [
    [0, 'open'],
    [2000, 'closed'],
    [6000, 'open'],
  ] as const) {
    notice(START_MS + atMs, state)
    await flush([0, 1])
  }
  expect((await logged()).map(([state]) => state)).toEqual(['open', 'closed', 'open'])
  end()
})
