import { candidateLimits, createLimiter, fixedWindow, type Store, sharedSettings } from 'headgate'
import { type EventSources, watchEvents } from '../../../../src/dashboard/board/event-sources.js'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import { Group } from '../../../../src/dashboard/shared/group.js'
import { thisProcess } from '../../../../src/dashboard/shared/this-process.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { StoreError } from '../../../../src/stores/store-error.js'
import { until } from '../../../support/servers/wait.js'
import { type SharedDocuments, sharedDocuments, sharedStore } from '../shared/shared-documents.js'

const START_MS = 1_790_000_000_000

let shared: SharedDocuments
const ends: (() => void)[] = []

beforeEach(() => {
  shared = sharedDocuments()
})
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** A process with two limiters on one store. */
function startProcess(
  store: Store = sharedStore(shared.documents),
  settings?: ReturnType<typeof sharedSettings>,
) {
  let nowMs = START_MS
  const now = () => nowMs
  const watches = ['api', 'login'].map((name) => {
    const policy = fixedWindow({ limit: 1, window: '1h' })
    const limiter = createLimiter<string>({
      name,
      policy,
      key: (id) => id,
      store,
      ...(settings && { settings }),
    })
    return new LimiterWatch({ name, limiter, inspection: inspectionOf(limiter) as Inspection }, now)
  })
  const { documents } = shared
  const group = new Group({ store: 'redis', prefix: 'hg', documents, isShared: true, watches, dashboard: 0 })
  const sources: EventSources = watchEvents(group, now)
  ends.push(() => {
    sources.stop()
    for (const watch of watches) {
      watch.stop()
      void watch.limiter.close()
    }
  })
  const [api, login] = watches as [LimiterWatch, LimiterWatch]
  const advance = (ms: number) => {
    nowMs += ms
  }
  return { api, login, group, sources, advance, events: () => group.log.events() }
}

const { host, pid } = thisProcess()
const self = `${host} (pid ${pid})`
const down = new StoreError('redis', 'connection lost')

test('one outage is one event, although each limiter has a circuit breaker', () => {
  const { api, login, events } = startProcess()
  for (const { limiter } of [api, login]) limiter.events.emit('storeState', 'open', down, '10.0.0.7:6379')
  api.limiter.events.emit('storeState', 'half-open', down, '10.0.0.7:6379')
  api.limiter.events.emit('storeState', 'closed', undefined, '10.0.0.7:6379')
  expect(events()).toHaveLength(1)
  login.limiter.events.emit('storeState', 'closed', undefined, '10.0.0.7:6379')
  expect(events()).toMatchObject([
    {
      kind: 'breaker',
      text: 'redis (10.0.0.7:6379) stopped replying in time',
      details: { state: 'open', server: '10.0.0.7:6379' },
    },
    {
      kind: 'breaker',
      text: `redis (10.0.0.7:6379) replies in time again to ${self}, after 0 s`,
      details: { state: 'closed' },
    },
  ])
})

test('the end of an outage names its process, how long it lasted, and what was decided meanwhile', async () => {
  const { api, login, events, advance } = startProcess()
  for (const { limiter } of [api, login]) limiter.events.emit('storeState', 'open', down)
  const decide = (watch: LimiterWatch) =>
    watch.limiter.events.emit('decision', { allowed: true, parts: [], source: 'local' } as never, {})
  for (const watch of [api, api, login]) decide(watch)
  advance(90_000)
  for (const { limiter } of [api, login]) limiter.events.emit('storeState', 'closed', undefined)
  advance(1000)
  api.limiter.events.emit('storeState', 'open', down)
  advance(8000)
  api.limiter.events.emit('storeState', 'closed', undefined)
  expect(
    events()
      .filter(({ details }) => details?.state === 'closed')
      .map(({ text }) => text),
  ).toEqual([
    `redis replies in time again to ${self}, which made 3 decisions without it in 2 min`,
    `redis replies in time again to ${self}, after 8 s`,
  ])
})

test('an outage that two processes see is logged once, and its end also', async () => {
  const [one, two] = [startProcess(), startProcess()]
  for (const state of ['open', 'closed'] as const)
    for (const { api, group } of [one, two]) {
      api.limiter.events.emit('storeState', state, down)
      await group.log.flush()
    }
  await one.group.log.read()
  expect(one.events().map(({ text }) => text)).toEqual([
    'redis stopped replying in time',
    `redis replies in time again to ${self}, after 0 s`,
  ])
})

test('a change of settings is logged once, with who made it, why, and what, although two processes follow it', async () => {
  const store = sharedStore(shared.documents)
  const settings = sharedSettings(store)
  const [one, two] = [startProcess(store, settings), startProcess(store, sharedSettings(store))]
  await settings.change('api', { limits: { api: { limit: 7 } } }, { by: 'ada', reason: 'a launch' })
  await settings.change('api', (now) => ({ ...now, mode: 'report' }), { by: 'bob', reason: 'a mistake' })
  await until('both processes have read both changes', () => {
    for (const { sources } of [one, two]) sources.check()
    return [one, two].every(({ events }) => events().filter(({ kind }) => kind === 'settings').length === 2)
  })
  await one.group.log.flush()
  await two.group.log.flush()
  await one.group.log.read()
  const changes = one.events().filter(({ kind }) => kind === 'settings')
  expect(changes).toMatchObject([
    {
      limiter: 'api',
      by: 'ada',
      reason: 'a launch',
      text: 'set api to 7',
      details: { limits: 'set api to 7', parts: 1, effect: 'looser' },
    },
    { limiter: 'api', by: 'bob', reason: 'a mistake', text: 'set the mode to report' },
  ])
  const modes = one.events().filter(({ kind }) => kind === 'mode')
  expect(modes).toMatchObject([{ limiter: 'api', by: 'bob', text: 'api now only reports denials' }])
})

test('a mode that the code sets is logged', () => {
  const { api, sources, events } = startProcess()
  sources.check()
  api.limiter.mode = 'report'
  sources.check()
  sources.check()
  api.limiter.mode = 'enforce'
  sources.check()
  expect(events().map(({ kind, text }) => [kind, text])).toEqual([
    ['mode', 'api now only reports denials'],
    ['mode', 'api now enforces its limits'],
  ])
})

test('a candidate that comes and goes is logged', async () => {
  const store = sharedStore(shared.documents)
  const settings = sharedSettings(store)
  const policy = fixedWindow({ limit: 1, window: '1h' })
  const key = (id: string) => id
  const limiter = createLimiter<string>({
    name: 'api',
    policy,
    key,
    store,
    settings,
    candidate: candidateLimits({ policy, key }),
  })
  const watch = new LimiterWatch({ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection })
  const { documents } = shared
  const group = new Group({
    store: 'redis',
    prefix: 'hg',
    documents,
    isShared: true,
    watches: [watch],
    dashboard: 0,
  })
  const sources = watchEvents(group, () => START_MS)
  await settings.change(
    'api',
    { candidate: { limits: { api: { limit: 3 } } } },
    { by: 'ada', reason: 'a trial' },
  )
  expect(group.log.events().filter(({ kind }) => kind === 'candidate')).toMatchObject([
    { limiter: 'api', text: 'api has a new candidate', by: 'ada', reason: 'a trial' },
  ])
  sources.stop()
  watch.stop()
  await limiter.close()
})

test('limits that a store has lost are logged once, and the warning of the limiter stays', () => {
  const listeners = new Set<(error: StoreError) => void>()
  const store: Store = {
    ...sharedStore(shared.documents),
    onLimitsLost(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const { api, events } = startProcess(store)
  expect(api.limiter.events.listenerCount('limitsLost')).toBe(0)
  for (const listener of listeners) listener(new StoreError('redis', 'keys were evicted'))
  expect(events()).toMatchObject([{ kind: 'limits-lost', text: 'redis: keys were evicted' }])
})

test('what an operator does is logged with who did it', () => {
  const { sources, events } = startProcess()
  sources.record({
    kind: 'block',
    limiter: 'api',
    text: 'blocked ada',
    by: 'bob',
    details: { identities: ['ada'] },
  })
  sources.record({ kind: 'release', limiter: 'api', text: 'released ada', by: 'bob' })
  expect(events()).toMatchObject([{ kind: 'block', by: 'bob', atMs: START_MS }, { kind: 'release' }])
})
