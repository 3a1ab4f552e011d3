import { createLimiter, fixedWindow, type LimiterOptions, type Store } from 'headgate'
import { customStore, StoreError } from 'headgate/store'
import { outageAdder, outageIntervals, shownOutages } from '../../../../src/dashboard/board/outages.js'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import type { LoggedEvent } from '../../../../src/dashboard/figures/logged-event.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'

const START_MS = 1_790_000_000_000

const down: Store = customStore({
  name: 'redis',
  async apply() {
    throw new StoreError('redis', 'connection lost')
  },
})

async function reportedBy(name: string, options: Partial<LimiterOptions<string>>) {
  const policy = fixedWindow({ limit: 10, window: '1h' })
  const limiter = createLimiter<string>({
    name,
    policy,
    key: (id) => id,
    store: down,
    ...options,
  } as LimiterOptions<string>)
  limiter.events.on('storeError', () => undefined)
  const watch = new LimiterWatch(
    { name, limiter, inspection: inspectionOf(limiter) as Inspection },
    () => START_MS,
  )
  for (let i = 0; i < 3; i++) await limiter.charge('ada')
  limiter.events.emit('storeState', 'open', undefined, '10.0.0.7:6379')
  const report = watch.report()
  watch.stop()
  await limiter.close()
  return { watch, report, cutOff: ['web (pid 7)'] }
}

test('an outage names the store and its servers, what requests of each limiter get, and how many were decided', async () => {
  const group = [
    await reportedBy('local', {}),
    await reportedBy('quarter', { fallbackShare: 0.25 }),
    await reportedBy('open', { onStoreError: 'allow' }),
    await reportedBy('closed', { onStoreError: 'deny' }),
    await reportedBy('custom', { onStoreError: () => 'allow' }),
    await reportedBy('report', { mode: 'report' }),
  ]
  expect(shownOutages(group)).toEqual([
    {
      store: 'redis',
      servers: ['10.0.0.7:6379'],
      sinceMs: START_MS,
      effects: [
        { limiter: 'local', text: 'each process counts on its own, and allows each limit in full' },
        { limiter: 'quarter', text: 'each process counts on its own, and allows 25% of each limit' },
        { limiter: 'open', text: 'all requests are allowed and not counted' },
        { limiter: 'closed', text: 'all requests are denied' },
        { limiter: 'custom', text: 'the function onStoreError decides each request' },
        { limiter: 'report', text: 'all requests are allowed, because the limiter is in report mode' },
      ],
      decisions: 18,
      processes: 1,
      process: 'web (pid 7)',
    },
  ])
})

const breaker = (atMs: number, state: string, server = '', store = 'redis'): LoggedEvent => ({
  id: `${atMs} ${state}`,
  atMs,
  kind: 'breaker',
  text: '',
  details: { store, state, ...(server && { server }) },
})

test('outages last from the event of a circuit breaker that opens to that of one that closes', () => {
  const events = [
    breaker(10, 'open'),
    breaker(15, 'open', '', 'sql'),
    breaker(20, 'closed'),
    breaker(30, 'open', 'a'),
    breaker(35, 'open', 'b'),
    breaker(40, 'closed', 'a'),
    breaker(50, 'closed', 'b'),
    breaker(60, 'closed'),
  ]
  expect(outageIntervals(events, 'redis', undefined, 100)).toEqual([
    { fromMs: 10, toMs: 20 },
    { fromMs: 30, toMs: 50 },
  ])
  expect(outageIntervals([], 'redis', undefined, 100)).toEqual([])
})

test('an outage that lasts ends now, also before it is in the log', () => {
  expect(outageIntervals([breaker(10, 'open')], 'redis', { sinceMs: 12 }, 100)).toEqual([
    { fromMs: 10, toMs: 100 },
  ])
  expect(outageIntervals([], 'redis', { sinceMs: 12 }, 100)).toEqual([{ fromMs: 12, toMs: 100 }])
})

test('an outage whose end no process has seen ends with the next event that the store has taken', () => {
  const next: LoggedEvent = { id: 'x', atMs: 40, kind: 'process-seen', text: '' }
  expect(outageIntervals([breaker(10, 'open'), next], 'redis', undefined, 100)).toEqual([
    { fromMs: 10, toMs: 40 },
  ])
})

test('a series has the outages of its store that are over, and not yet too old', () => {
  const events = [
    breaker(10, 'open'),
    breaker(20, 'closed'),
    breaker(50, 'open'),
    breaker(60, 'closed'),
    breaker(90, 'open'),
  ]
  const withOutages = outageAdder(events, 100)
  const series = { stepMs: 10, fromMs: 30, allowed: [1], denied: [0] }
  const store = (name: string) => ({ name, state: 'closed' as const, calls: 0, failures: 0, latency: [] })
  const running = { sinceMs: 90, allowed: 0, denied: 0, local: 0, byStore: 0, processes: 1, servers: [] }
  const outages = [{ fromMs: 50, toMs: 60 }]
  expect(withOutages(series, { ...store('redis'), outage: running })).toEqual({ ...series, outages })
  expect(withOutages(series, store('sql'))).toBe(series)
})
