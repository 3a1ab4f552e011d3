import { createLimiter, fixedWindow } from 'headgate'
import { boardOf } from '../../../../src/dashboard/board/board.js'
import { type Watched, watchAll } from '../../../../src/dashboard/figures/limiter-watch.js'
import { Group } from '../../../../src/dashboard/shared/group.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { sharedDocuments, sharedStore } from '../shared/shared-documents.js'

beforeEach(() => {
  jest.useFakeTimers({ now: 1_790_000_000_000 })
})
afterEach(() => {
  jest.useRealTimers()
})

/** Limiters that each have a client of their own to one server. */
function limitersOn(shared: ReturnType<typeof sharedDocuments>) {
  return ['api', 'login'].map((name) => {
    const store = sharedStore({ ...shared.documents })
    const policy = fixedWindow({ limit: 1, window: '1h' })
    const limiter = createLimiter<string>({ name, policy, key: (id) => id, store })
    const watched: Watched = { name, limiter, inspection: inspectionOf(limiter) as Inspection }
    return { limiter, watched, documents: store.documents ?? shared.documents }
  })
}

test('limiters with two clients of one server are added up, and each process counts once', async () => {
  const shared = sharedDocuments()
  const own = limitersOn(shared)
  const board = boardOf(watchAll(own.map(({ watched }) => watched)))
  const others = limitersOn(shared)
  const identity = { id: 'other', host: 'web', pid: 1, version: '', startedAtMs: Date.now() }
  const groups = others.map(({ watched, documents }, dashboard) => {
    const options = { store: 'redis', prefix: 'hg', documents, isShared: true, dashboard }
    return new Group({ ...options, watches: watchAll([watched]) }, Date.now, identity)
  })
  for (const { limiter } of own) await limiter.charge('ada')
  for (const { limiter } of others) for (let i = 0; i < 3; i++) await limiter.charge('bob')
  await board.tick()
  for (const group of groups) await group.tick()
  await board.refresh()
  const denied = (name: string) => board.detail(name)?.denied.map((client) => client.denied)
  expect([denied('api'), denied('login')]).toEqual([[2], [2]])
  expect(board.processes().map(({ isThis, share }) => [isThis, share])).toEqual([
    [true, 0.25],
    [false, 0.75],
  ])
  await board.stop()
})
