import { sharedSettings } from 'headgate'
import { type Board, boardOf } from '../../../../src/dashboard/board/board.js'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import { finderIn } from '../../../../src/dashboard/server/actions.js'
import { RequestError } from '../../../../src/dashboard/server/respond.js'
import { trialActions } from '../../../../src/dashboard/server/trial-actions.js'
import { undoAction } from '../../../../src/dashboard/server/undo-action.js'
import { charge, type WatchedLimiter, watchedLimiter } from '../actions/watched.js'
import { sharedDocuments, sharedStore } from '../shared/shared-documents.js'

const STEP_MS = 300_000
const reason = 'most ask for less'
const asked = { limitName: 'api', limit: 2 }

let boards: Board[] = []
beforeEach(() => jest.useFakeTimers({ now: 5_966_600 * STEP_MS }))
afterEach(async () => {
  await Promise.all(boards.map((board) => board.stop()))
  boards = []
  jest.useRealTimers()
})

/** A limiter on a store that processes share, which the next test does not see. */
function sharedLimiter(options: object = {}): WatchedLimiter {
  const store = sharedStore(sharedDocuments().documents)
  const settings = sharedSettings(store)
  return { ...watchedLimiter({ store, settings, ...options }), settings }
}

/** Returns what sends an action to a dashboard of a limiter, as the operator `ines`. */
function actions(given: WatchedLimiter) {
  const board = boardOf([new LimiterWatch(given.watched)])
  boards.push(board)
  const find = finderIn([given.watched])
  const all = new Map(trialActions(board.tuning, find))
  const undo = undoAction(find, board.tuning)
  const send = async (name: string, body: object = {}) =>
    (name === 'undo' ? undo : all.get(name))?.run(
      { limiter: 'api', ...body },
      { operator: 'ines', req: {} },
    ) as never as Promise<Record<string, unknown>>
  return { board, all, send }
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing failed',
    (error) => (error instanceof RequestError ? [error.status, error.message] : error),
  )

test('whoever may see the page may see proposals and trials, and nothing else', () => {
  const { all } = actions(sharedLimiter())
  expect([...all].map(([name, { isChange }]) => [name, isChange])).toEqual([
    ['tuning', false],
    ['start-trial', true],
    ['approve-trial', true],
    ['stop-trial', true],
  ])
})

test('a proposal is tried, approved, and stopped, each step with who and why in the log', async () => {
  const given = sharedLimiter()
  const { board, send } = actions(given)
  for (let i = 0; i < 40; i++) await charge(given.limiter, `client-${i}`)
  await jest.advanceTimersByTimeAsync(2 * STEP_MS)
  expect(await send('tuning')).toMatchObject({
    trial: null,
    proposals: [{ limitName: 'api', inForce: 3, clients: 40, verdict: 'keep' }],
    defaults: { watchMs: 86_400_000 },
  })
  const started = await send('start-trial', { ...asked, watchMs: 600_000, reason })
  expect(started).toMatchObject({ trial: { phase: 'watching', watchMs: 600_000, guardMs: 3_600_000 } })
  expect(await failure(send('approve-trial', { reason }))).toEqual([
    400,
    expect.stringContaining('must be ready, but it is watching'),
  ])
  await jest.advanceTimersByTimeAsync(4 * STEP_MS)
  expect(await send('tuning')).toMatchObject({
    trial: { phase: 'ready', watched: { denied: 0, clients: 40 } },
  })
  expect(await send('approve-trial', { reason })).toMatchObject({ trial: { phase: 'guarding' } })
  expect((await given.settings.read('api')).limits).toEqual({ api: { limit: 2 } })
  expect(await send('stop-trial', { reason: 'a launch' })).toMatchObject({
    trial: { phase: 'ended', outcome: 'stopped' },
  })
  expect((await given.settings.read('api')).limits).toEqual({})
  const steps = board.events().filter(({ kind }) => kind === 'tune')
  expect(steps.map(({ by, reason: why, details }) => [details?.phase, by, why])).toEqual([
    ['starting', 'ines', reason],
    ['watching', undefined, undefined],
    ['ready', undefined, undefined],
    ['promoting', 'ines', reason],
    ['guarding', undefined, undefined],
    ['reverting', 'ines', 'a launch'],
    ['ended', undefined, undefined],
  ])
})

describe('an undo of a step of a trial', () => {
  const lastChange = async ({ settings }: WatchedLimiter) => (await settings.changes('api'))[0]?.id ?? ''
  const ended = 'the trial of 2 for api'

  async function started() {
    const given = sharedLimiter()
    const { send } = actions(given)
    for (let i = 0; i < 40; i++) await charge(given.limiter, `client-${i}`)
    await send('start-trial', { ...asked, watchMs: STEP_MS, guardMs: STEP_MS, reason })
    return { given, send, step: await lastChange(given) }
  }

  test.each([
    ['by its change', (change: string) => ({ change })],
    ['as the candidate that is in force', (base: string) => ({ paths: ['candidate'], base })],
  ])('%s ends it for good, and another trial can start', async (_, lifted) => {
    const { given, send, step } = await started()
    expect(await send('undo', { ...lifted(step), reason })).toEqual({ ended })
    expect(await given.settings.read('api')).toEqual({ limits: {}, overrides: [] })
    expect(await send('tuning')).toMatchObject({ trial: { phase: 'ended', outcome: 'stopped' } })
    const back = await Promise.all(
      [step, await lastChange(given)].map((change) => failure(send('undo', { change, reason }))),
    )
    expect(back).toEqual([
      [400, expect.stringContaining('is left to undo, because ines')],
      [400, 'dashboard: nothing is left to undo, because a trial that has ended cannot be resumed.'],
    ])
    expect(await send('start-trial', { ...asked, reason })).toMatchObject({ trial: { phase: 'watching' } })
  })

  test('that was approved restores its limit, and no candidate comes back', async () => {
    const { given, send, step } = await started()
    await jest.advanceTimersByTimeAsync(4 * STEP_MS)
    await send('approve-trial', { reason })
    const promoted = await lastChange(given)
    expect((await given.settings.read('api')).limits).toEqual({ api: { limit: 2 } })
    expect(await send('undo', { change: step, reason })).toEqual({ ended }) // of its first step
    expect(await given.settings.read('api')).toEqual({ limits: {}, overrides: [] })
    await send('undo', { change: await lastChange(given), reason }) // the limit again, without a trial
    expect(await given.settings.read('api')).toEqual({ limits: { api: { limit: 2 } }, overrides: [] })
    await send('undo', { change: promoted, over: await lastChange(given), reason })
    expect(await given.settings.read('api')).toEqual({ limits: {}, overrides: [] })
  })

  test('is not undone with other parts, which would stay', async () => {
    const { given, send, step } = await started()
    await given.settings.change('api', (now) => ({ ...now, mode: 'report' }), { by: 'omar', reason })
    const base = await lastChange(given)
    expect(await failure(send('undo', { paths: ['mode', 'candidate'], base, reason }))).toEqual([
      400,
      'Undo the step of a trial alone, because that ends the trial.',
    ])
    expect(await send('undo', { paths: ['mode'], base, reason })).toEqual({})
    expect(await send('undo', { change: step, reason })).toEqual({ ended })
  })
})

test('a trial does not start beside the candidate of an operator, and says so', async () => {
  const given = sharedLimiter()
  const { send } = actions(given)
  const candidate = { limits: { api: { limit: 1 } } }
  await given.settings.change('api', { limits: {}, candidate }, { by: 'omar', reason })
  expect(await failure(send('start-trial', { ...asked, reason }))).toEqual([
    400,
    'tune: api must have no candidate in its settings. Remove it first.',
  ])
  expect(await send('tuning')).toMatchObject({ trial: null })
})

test.each<readonly [string, object, string]>([
  ['start-trial', { ...asked }, 'A reason is required'],
  ['start-trial', { ...asked, limit: '2', reason }, 'limit must be a number.'],
  ['start-trial', { ...asked, limit: 0, reason }, 'limit must be'],
  ['start-trial', { ...asked, limit: 2.5, reason }, 'limit must be'],
  ['start-trial', { ...asked, limit: 3, reason }, '3 is already in force'],
  ['start-trial', { ...asked, limitName: 'x', reason }, 'limitName must be a limit of api, got x'],
  ['start-trial', { ...asked, limitName: 7, reason }, 'limitName must be a name.'],
  ['start-trial', { ...asked, maxHarmedShare: 2, reason }, 'maxHarmedShare must be a share from 0 to 1'],
  ['approve-trial', { reason }, 'has no trial'],
])('%s with %j fails', async (name, body, message) => {
  const given = sharedLimiter()
  const { send } = actions(given)
  expect(await failure(send(name, body))).toEqual([400, expect.stringContaining(message)])
  expect(await given.settings.read('api')).toEqual({ limits: {}, overrides: [] })
})

test.each([
  ['start-trial', { ...asked, limiter: 'other', reason }],
  ['approve-trial', { limiter: '__proto__', reason }],
  ['stop-trial', { limiter: {}, reason }],
  ['tuning', { limiter: 'x'.repeat(1_000_000) }],
])('%s of a limiter that is not there is a 404, as of other actions', async (name, body) => {
  const { send } = actions(sharedLimiter())
  expect(await failure(send(name, body))).toEqual([404, 'There is no such limiter.'])
})

test('a limiter without settings has proposals, and the fix for a trial', async () => {
  const { send } = actions(sharedLimiter({ settings: undefined }))
  expect(await send('tuning')).toMatchObject({ proposals: [], trial: null })
  expect(await failure(send('start-trial', { ...asked, reason }))).toEqual([
    400,
    'tune: api must have shared settings. Add settings: sharedSettings(store) to its options.',
  ])
})
