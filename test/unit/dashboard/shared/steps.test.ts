import { createLimiter, fixedWindow } from 'headgate'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import { STEP_MS, StepQueue } from '../../../../src/dashboard/shared/steps.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'

/** The start of a step. */
const START_MS = 5_966_600 * STEP_MS

let nowMs: number
let watch: LimiterWatch
let charge: (times: number) => Promise<void>

beforeEach(() => {
  nowMs = START_MS
  const limiter = createLimiter<string>({
    name: 'api',
    policy: fixedWindow({ limit: 2, window: '1h' }),
    key: (id) => id,
  })
  watch = new LimiterWatch(
    { name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection },
    () => nowMs,
  )
  charge = async (times) => {
    for (let i = 0; i < times; i++) await limiter.charge('ada')
  }
})
afterEach(() => watch.stop())

const shown = (queue: StepQueue, isLast = false) =>
  queue
    .take(nowMs, isLast)
    .map(({ step, allowed, denied, demands }) => [
      step - START_MS / STEP_MS,
      allowed,
      denied,
      demands.flatMap((limit) => limit.demands.flatMap(({ peaks }) => peaks)),
    ])

test('a step is taken once it is over, with what clients asked for in it', async () => {
  const queue = new StepQueue(watch, nowMs)
  await charge(3)
  nowMs += STEP_MS - 1
  expect(shown(queue)).toEqual([])
  nowMs += 1
  await charge(1)
  expect(shown(queue)).toEqual([[0, 2, 1, [4]]]) // the window of the limit lasts for both steps
  nowMs += STEP_MS
  expect(shown(queue)).toEqual([
    [0, 2, 1, [4]],
    [1, 0, 1, [4]],
  ])
})

test('steps stay until they are in the history', async () => {
  const queue = new StepQueue(watch, nowMs)
  await charge(1)
  nowMs += STEP_MS
  const first = queue.take(nowMs)
  nowMs += STEP_MS
  expect(shown(queue)).toHaveLength(2)
  queue.added(first)
  expect(shown(queue)).toEqual([[1, 0, 0, [1]]])
})

test('a day of steps waits, and the demands of three of them', async () => {
  const queue = new StepQueue(watch, nowMs)
  for (let step = 0; step < 300; step++) {
    await charge(1)
    nowMs += STEP_MS
    queue.take(nowMs)
  }
  const steps = queue.take(nowMs)
  expect(steps).toHaveLength(288)
  expect(steps.filter(({ demands }) => demands.length > 0)).toHaveLength(3)
})

test('when counting ends, the step that has begun is taken also', async () => {
  const queue = new StepQueue(watch, nowMs)
  await charge(1)
  nowMs += 10_000
  expect(shown(queue, true)).toEqual([[0, 1, 0, [1]]])
})

test('a clock that steps back an hour takes nothing twice, and goes on', async () => {
  const queue = new StepQueue(watch, nowMs)
  await charge(1)
  nowMs += STEP_MS
  queue.added(queue.take(nowMs))
  nowMs -= 12 * STEP_MS
  expect(shown(queue)).toEqual([])
  nowMs += STEP_MS
  expect(shown(queue).map(([step]) => step)).toEqual([-11])
})

test.each([
  [2, 0, [0]],
  [4, 0, [0]],
  [5, 1, []],
  [288, 1, []],
])(
  'a clock that is set back by %d steps begins anew %d times, and %j wait',
  async (steps, setBacks, waiting) => {
    const queue = new StepQueue(watch, nowMs)
    await charge(1)
    nowMs += STEP_MS
    queue.take(nowMs)
    nowMs -= steps * STEP_MS
    expect([shown(queue).map(([step]) => step), queue.setBacks]).toEqual([waiting, setBacks])
  },
)
