import {
  createLimiter,
  dumpMemory,
  fixedWindow,
  type Limiter,
  memoryStore,
  restoreMemory,
  type Store,
  sharedSettings,
} from 'headgate'
import { customStore } from 'headgate/store'
import { type Board, boardOf } from '../../../../src/dashboard/board/board.js'
import { watchAll } from '../../../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { sharedDocuments, sharedStore } from '../shared/shared-documents.js'

/** The start of a step of five minutes. */
const START_MS = 1_790_000_100_000
const MINUTE_MS = 60_000
const INES = { by: 'ines', reason: 'a test' }

const ends: (() => Promise<void>)[] = []

beforeEach(() => {
  jest.useFakeTimers({ now: START_MS })
})
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  jest.useRealTimers()
})

/** What an application has in this process: limiters that all such applications call the same, and a dashboard. */
function application(store: Store | undefined, names: readonly string[] = ['api']) {
  const settings = sharedSettings(store?.documents === undefined ? memoryStore() : store)
  const limiters = names.map((name) => {
    const policy = fixedWindow({ limit: 2, window: '1h' })
    const options = { name, policy, key: (id: string) => id, settings, ...(store && { store }) }
    return createLimiter<string>(options)
  })
  const board = boardOf(watchAll(limiters.map(watched)))
  ends.push(async () => {
    await board.stop()
    await Promise.all(limiters.map((limiter) => limiter.close()))
  })
  return { board, limiters: limiters as [Limiter<string>, ...Limiter<string>[]], settings }
}

function watched(limiter: Limiter<string>) {
  return { name: String(limiter.name), limiter, inspection: inspectionOf(limiter) as Inspection }
}

/** Lets a store count, an operator change it, and a trial begin. */
async function use({ board, limiters: [api], settings }: ReturnType<typeof application>): Promise<void> {
  for (let i = 0; i < 9; i++) await api.charge('ada')
  await settings.change('api', { limits: { api: { limit: 1 } } }, INES)
  board.record({ kind: 'release', limiter: 'api', text: 'released ada', ...INES })
  const times = { watchMs: MINUTE_MS, guardMs: MINUTE_MS, maxHarmedShare: 0.01 }
  await board.tuning.start({ limiter: 'api', limitName: 'api', limit: 5, ...times }, INES)
  await jest.advanceTimersByTimeAsync(7 * MINUTE_MS)
  await api.charge('bob')
}

/** Returns all that is known of the limiter `api`, without the times. */
async function knownTo(board: Board) {
  await board.refresh()
  const { series, marks, outages } = (await board.history('api')) ?? {}
  const kindsOf = (logged: ReturnType<Board['events']>) =>
    logged.map(({ kind }) => kind).filter((kind) => kind !== 'process-seen') // that it began to report
  const counted = series?.allowed.map((allowed, i) => (allowed ?? 0) + (series.denied[i] ?? 0))
  const { proposals, trial } = await board.tuning.read('api')
  return {
    events: kindsOf(board.events()),
    marks: kindsOf(marks ?? []),
    outages,
    counted: counted?.reduce((sum, count) => sum + count),
    demands: (await board.demands('api')).map(({ clients }) => clients),
    proposals: proposals.length,
    trial: trial?.limit,
    denied: board.detail('api')?.deniedClients,
    calls: board.detail('api')?.store.calls,
    processes: board.processes().map(({ isThis }) => isThis),
  }
}

const NOTHING = {
  ...{ events: [], marks: [], outages: [], counted: 0, demands: [0], proposals: 1, trial: undefined },
  ...{ denied: 0, calls: 0, processes: [true] },
}

const withoutDocuments = () => {
  const { apply } = memoryStore()
  return customStore({ name: 'remote', apply: (operations) => apply(operations) })
}

/** The stores of applications that have nothing to do with each other. */
const STORES: readonly (readonly [string, () => Store | undefined])[] = [
  ['memory stores', memoryStore],
  ['the memory that limiters have by default', () => undefined],
  ['stores without documents', withoutDocuments],
  ['two servers', () => sharedStore(sharedDocuments().documents)],
]

test.each(STORES)('two applications on %s see nothing of each other', async (_, storeOf) => {
  const [one, two] = [application(storeOf()), application(storeOf())]
  await use(one)
  expect(await knownTo(two.board)).toEqual(NOTHING)
  const known = await knownTo(one.board)
  expect(known).toMatchObject({ counted: 9, denied: 1, trial: 5, processes: [true] })
  expect(known.events).toEqual(expect.arrayContaining(['settings', 'release', 'tune']))
  await use(two)
  expect(await knownTo(two.board)).toEqual(known)
})

test('two dashboards on one store have one log, one history and one trial', async () => {
  const store = memoryStore()
  const [one, two] = [application(store), application(store)]
  await use(one)
  const { events, marks, trial } = await knownTo(one.board)
  expect(events).toEqual(expect.arrayContaining(['settings', 'release', 'tune']))
  expect(await knownTo(two.board)).toMatchObject({ events, marks, trial })
})

test('the next process has the log, the history and the trial of a memory store that is passed on', async () => {
  const [store, next] = [memoryStore(), memoryStore()]
  const before = application(store)
  await use(before)
  await before.board.stop()
  const { events, marks, trial } = await knownTo(before.board)
  expect(events).toContain('release')
  restoreMemory(next, dumpMemory(store))
  expect(await knownTo(application(next).board)).toMatchObject({ counted: 9, events, marks, trial })
})

test('one dashboard has the events of all its stores', async () => {
  const { board } = application(undefined, ['api', 'login', 'search'])
  const events = ['api', 'login', 'search'].map(
    (limiter) => ({ kind: 'release', limiter, text: limiter }) as const,
  )
  for (const event of events) board.record(event)
  await board.tick()
  await board.refresh()
  const logged = board.events()
  expect(logged).toMatchObject(events)
  await board.refresh()
  expect(board.events()).toBe(logged) // open pages are not told again
})
