import { createLimiter, fixedWindow, type Store, sharedSettings } from 'headgate'
import { boardOf } from '../../../../src/dashboard/board/board.js'
import { trialProblems, trialsOf } from '../../../../src/dashboard/board/trials.js'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import { Group } from '../../../../src/dashboard/shared/group.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import type { Documents } from '../../../../src/stores/documents.js'
import { sharedTrials } from '../../../../src/tuning/trial/shared-trials.js'
import type { TrialPlan } from '../../../../src/tuning/trial/trial.js'
import { type SharedDocuments, sharedDocuments, sharedStore } from '../shared/shared-documents.js'

const START_MS = 1_790_000_000_000
const ada = { by: 'ada', reason: 'tune said so' }
const KEY = 'hg:dashboard:trials/api'
const LOOK_MS = 10_000
const PLAN: TrialPlan = {
  ...{ limiter: 'api', limitName: 'api', limit: 3, apart: [] },
  ...{ watchMs: 600_000, guardMs: 600_000, maxHarmedShare: 0.01 },
}

let shared: SharedDocuments
let nowMs: number
const ends: (() => void)[] = []

beforeEach(() => {
  shared = sharedDocuments()
  nowMs = START_MS
})
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

function watchOf(name: string, store: Store, hasSettings = true): LimiterWatch {
  const limiter = createLimiter<string>({
    ...{ name, policy: fixedWindow({ limit: 5, window: '1h' }), key: (id: string) => id, store },
    ...(hasSettings && { settings: sharedSettings(store) }),
  })
  const watch = new LimiterWatch({ name, limiter, inspection: inspectionOf(limiter) as Inspection })
  ends.push(() => {
    watch.stop()
    void limiter.close()
  })
  return watch
}

/** A process with a dashboard of two limiters, and one without settings. */
function startProcess() {
  const store = sharedStore(shared.documents)
  const { documents } = shared
  const watches = [watchOf('api', store), watchOf('login', store), watchOf('bare', store, false)]
  const group = new Group({ store: 'redis', prefix: 'hg', documents, isShared: true, watches, dashboard: 0 })
  const trials = trialsOf(group, () => nowMs)
  return {
    trials,
    /** Looks once, and writes the log. */
    async look() {
      nowMs += LOOK_MS
      await trials.check()
      await group.log.flush().catch(() => undefined)
    },
    steps: () => group.log.events().map(({ details, by }) => [details?.phase, by].filter(Boolean).join(' ')),
  }
}

/** What an operator calls, such as by the command. */
function operator(documents: Documents = shared.documents) {
  const store = sharedStore(documents)
  return sharedTrials({ name: 'redis', documents }, sharedSettings(store), { now: () => nowMs })
}

test('steps that a process took before it died are logged by those that live, once', async () => {
  const [one, two] = [startProcess(), startProcess()]
  await operator().start(PLAN, ada)
  for (const process of [one, two, one]) await process.look()
  expect([one.steps(), two.steps()]).toEqual([
    ['starting ada', 'watching'],
    ['starting ada', 'watching'],
  ])
})

test('an approval of a process that died before it changed the settings is carried out', async () => {
  const one = startProcess()
  await operator().start(PLAN, ada)
  const stored = JSON.parse(shared.texts.get(KEY) ?? '')
  stored.trial.phase = 'promoting'
  shared.texts.set(KEY, JSON.stringify(stored))
  await one.look()
  expect((await sharedSettings(sharedStore(shared.documents)).read('api')).limits).toEqual({
    api: { limit: 3 },
  })
  expect((await operator().read('api'))?.phase).toBe('guarding')
})

test('looks every 10 seconds, with one read while nothing goes on, however many limiters there are', async () => {
  const one = startProcess()
  await one.look()
  shared.calls.length = 0
  await one.trials.check()
  nowMs += LOOK_MS - 1
  await one.trials.check()
  expect(shared.calls).toEqual([])
  nowMs += 1
  await one.trials.check()
  expect(shared.calls).toEqual(['read'])
})

test('says why trials do not go on while the store fails, and goes on once it is back', async () => {
  const one = startProcess()
  await operator().start(PLAN, ada)
  shared.set('fail')
  await one.look()
  expect(trialProblems([one.trials])).toEqual(['Trials cannot continue (redis: connection lost).'])
  shared.set('none')
  await one.look()
  expect(trialProblems([one.trials])).toEqual([])
  expect(one.steps()).toEqual(['starting ada', 'watching'])
})

test('does not wait for a store that hangs', async () => {
  const one = startProcess()
  shared.set('hang')
  await one.look()
  expect(trialProblems([one.trials])).toHaveLength(1)
  shared.set('none')
})

test('leaves alone what is not a trial, while other trials go on', async () => {
  const one = startProcess()
  shared.texts.set('hg:dashboard:trials/login', 'a value of another program')
  await operator().start(PLAN, ada)
  await one.look()
  expect(one.steps()).toEqual(['starting ada', 'watching'])
  expect(shared.texts.get('hg:dashboard:trials/login')).toBe('a value of another program')
  expect(trialProblems([one.trials])).toEqual([])
})

test('a dashboard looks after trials by itself, and its problems name what fails', async () => {
  jest.useFakeTimers({ now: START_MS })
  const store = sharedStore(shared.documents)
  const board = boardOf([watchOf('api', store)])
  await operator().start(PLAN, ada)
  await jest.advanceTimersByTimeAsync(LOOK_MS)
  expect(board.events().filter(({ kind }) => kind === 'tune')).toHaveLength(2)
  shared.set('fail')
  await jest.advanceTimersByTimeAsync(2 * LOOK_MS)
  expect(board.problems()).toContainEqual(expect.stringContaining('Trials cannot continue'))
  shared.set('none')
  await board.stop()
  jest.useRealTimers()
})
