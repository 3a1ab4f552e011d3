import { createLimiter, fixedWindow } from 'headgate'
import { customStore, StoreError } from 'headgate/store'
import { type Board, boardOf } from '../../../../src/dashboard/board/board.js'
import { watchAll } from '../../../../src/dashboard/figures/limiter-watch.js'
import { headlinesOf } from '../../../../src/dashboard/findings/headlines.js'
import { Group } from '../../../../src/dashboard/shared/group.js'
import { processName } from '../../../../src/dashboard/shared/process-events.js'
import { thisProcess } from '../../../../src/dashboard/shared/this-process.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { type SharedDocuments, sharedDocuments } from '../shared/shared-documents.js'

const START_MS = 1_790_000_100_000
const EFFECT = 'each process counts on its own, and allows each limit in full'

let shared: SharedDocuments
let board: Board
let own: ReturnType<typeof limiterOfProcess>
let other: ReturnType<typeof limiterOfProcess>
let otherGroup: Group

beforeEach(async () => {
  jest.useFakeTimers({ now: START_MS })
  shared = sharedDocuments()
  own = limiterOfProcess()
  other = limiterOfProcess()
  board = boardOf(own.watches)
  const { documents } = shared
  otherGroup = new Group(
    { store: 'redis', prefix: 'hg', documents, isShared: true, watches: other.watches, dashboard: 0 },
    Date.now,
    { id: 'other', host: 'web', pid: 7, version: '1.0.0', startedAtMs: START_MS },
  )
  await otherGroup.tick()
  await board.refresh()
})
afterEach(async () => {
  shared.set('none')
  for (const watch of [...own.watches, ...other.watches]) watch.stop()
  await board.stop()
  jest.useRealTimers()
})

/** A limiter of a process whose store does not decide, and holds the documents of all. */
function limiterOfProcess() {
  const store = customStore({
    name: 'redis',
    async apply() {
      throw new StoreError('redis', 'connection lost')
    },
    documents: shared.documents,
  })
  const policy = fixedWindow({ limit: 100, window: '1h' })
  const limiter = createLimiter<string>({ name: 'api', policy, key: (id) => id, store })
  limiter.events.on('storeError', () => undefined)
  const watches = watchAll([{ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection }])
  return {
    watches,
    /** Decides some requests without the store. */
    async decide(times: number) {
      for (let i = 0; i < times; i++) await limiter.charge('ada')
      limiter.events.emit('storeState', 'open', undefined)
    },
  }
}

/** What is wrong, once some time has passed, in which the other process reports or not. */
async function sentenceAfter(ms: number, reports: boolean): Promise<string | undefined> {
  jest.setSystemTime(Date.now() + ms)
  if (reports) await otherGroup.tick()
  await board.refresh()
  return headlinesOf(board.rows(), board.outages(), board.processes(), ['redis'])
    .map(({ finding }) => finding.sentence)
    .join(' || ')
}

test('an outage is not said to be of one process before the others could say whether they see it', async () => {
  jest.setSystemTime(START_MS + 1000)
  await own.decide(3)
  const since = `since {${START_MS + 1000}}: ${EFFECT}, 3 decisions without it`
  expect([
    await sentenceAfter(0, false),
    await sentenceAfter(1500, true),
    await sentenceAfter(2000, true),
  ]).toEqual([
    `redis has not replied ${since} in this process`,
    `redis has not replied ${since} in this process`,
    `redis has not replied to ${processName(thisProcess())}, 1 of 2 processes, ${since}`,
  ])
})

test('what others said of an outage counts while they cannot be read, and none of them is said to have died', async () => {
  await own.decide(3)
  await other.decide(5)
  const since = `redis has not replied since {${START_MS}}: ${EFFECT}`
  const sentences = [await sentenceAfter(1000, false), await sentenceAfter(3000, true)]
  shared.set('fail')
  sentences.push(await sentenceAfter(1000, false))
  await own.decide(1)
  sentences.push(await sentenceAfter(1000, false))
  shared.set('none')
  for (let i = 0; i < 8; i++) sentences.push(await sentenceAfter(1000, false))
  expect(sentences).toEqual([
    `${since}, 3 decisions without it in this process`,
    `${since}, 8 decisions without it`,
    `${since}, 8 decisions without it`,
    ...Array(9).fill(`${since}, 9 decisions without it`),
  ])
})
