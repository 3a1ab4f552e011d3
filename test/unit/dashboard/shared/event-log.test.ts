import {
  eventLog,
  type LoggableEvent,
  withEvents as withEventsAt,
} from '../../../../src/dashboard/shared/event-log.js'
import { MAX_TEXT } from '../../../../src/dashboard/shared/shared-document.js'
import { type SharedDocuments, sharedDocuments } from './shared-documents.js'

const START_MS = 1_790_000_000_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

let shared: SharedDocuments

beforeEach(() => {
  shared = sharedDocuments()
})

const event = (id: string, own: Partial<LoggableEvent> = {}): LoggableEvent => ({
  id,
  atMs: START_MS,
  kind: 'tune',
  text: id,
  ...own,
})
const withEvents = (log: readonly LoggableEvent[], added: readonly LoggableEvent[]) =>
  withEventsAt(log, added, START_MS + HOUR_MS)
const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id)

test('events of two processes are in one log, in the order of their times, each once', async () => {
  const [one, two] = [eventLog(shared.documents, 'hg'), eventLog(shared.documents, 'hg')]
  one.add(event('b', { atMs: START_MS + 2 }))
  two.add(event('a', { atMs: START_MS + 1 }))
  two.add(event('b', { atMs: START_MS + 2 }))
  await Promise.all([one.flush(), two.flush()])
  await Promise.all([one.flush(), two.flush()])
  for (const log of [one, two]) {
    await log.read()
    expect(idsOf(log.events())).toEqual(['a', 'b'])
  }
})

test('what is not yet written is shown, and is written once the store is back', async () => {
  const log = eventLog(shared.documents, 'hg')
  shared.set('fail')
  log.add(event('a'))
  await expect(log.flush()).rejects.toThrow('connection lost')
  expect(idsOf(log.events())).toEqual(['a'])
  shared.set('lose')
  await expect(log.flush()).rejects.toThrow('reply lost')
  shared.set('none')
  await log.flush()
  await log.flush()
  expect(idsOf(JSON.parse(shared.texts.get('hg:dashboard:events') ?? '').events)).toEqual(['a'])
  expect(shared.written).toHaveLength(1)
})

test('the last 1,000 events are kept, and one that is older than all of them is not added', () => {
  const many = Array.from({ length: 1200 }, (_, i) => event(`e${i}`, { atMs: START_MS + i }))
  const log = withEvents([], many)
  expect([log.length, log[0]?.id, log.at(-1)?.id]).toEqual([1000, 'e200', 'e1199'])
  expect(withEvents(log, [event('old', { atMs: START_MS })])).toBe(log)
  expect(withEvents(log, [event('e1100')])).toBe(log)
})

/** A process whose clock is ahead, and which logs so many events. */
async function fillLog(aheadMs: number, count: number, own: Partial<LoggableEvent> = {}): Promise<void> {
  const log = eventLog(shared.documents, 'hg', () => START_MS + aheadMs)
  for (let i = 0; i < count; i++) {
    log.add(event(`${aheadMs}-${i}`, { atMs: START_MS + aheadMs + i, ...own }))
    if (i % 200 === 199 || i === count - 1) await log.flush()
  }
}

/** What is logged at once: the number of events from before and after a time, and the last of those before. */
async function loggedAround(atMs: number) {
  const log = eventLog(shared.documents, 'hg')
  await log.read()
  const ids = (isBefore: boolean) => idsOf(log.events().filter((each) => each.atMs < atMs === isBefore))
  return { before: ids(true).length, last: ids(true).at(-1), after: ids(false).length }
}

const LONG = { by: 'x'.repeat(500), reason: '限'.repeat(500), details: { long: 'x'.repeat(20_000) } }

test.each([
  ['short', {}, 500],
  ['long', LONG, 20],
] as const)(
  'of %s events, a clock an hour ahead, or behind, leaves half of a full log to the others',
  async (_, own, half) => {
    const middle = START_MS + HOUR_MS / 2
    await fillLog(HOUR_MS, 1000, own)
    expect(await loggedAround(middle)).toMatchObject({ before: 0 })
    await fillLog(0, 1, own)
    expect(await loggedAround(middle)).toMatchObject({ before: 1, last: '0-0' })
    await fillLog(0, 1200, own)
    const { before, last, after } = await loggedAround(middle)
    expect(last).toBe('0-1199')
    expect([before, after].map((count) => count >= half)).toEqual([true, true])
  },
)

test('of a full log, an event that lies ahead of the clock is not added if it would be dropped at once', async () => {
  await fillLog(HOUR_MS, 1000)
  const log = eventLog(shared.documents, 'hg', () => START_MS)
  log.add(event('ahead', { atMs: START_MS + HOUR_MS - 1 }))
  const writes = shared.written.length
  await log.flush()
  expect([shared.written.length, log.events().length]).toEqual([writes, 1000])
})

test.each(['x', '限'])('long events of %s leave room for fewer', async (character) => {
  const log = eventLog(shared.documents, 'hg')
  const long = character.repeat(5000)
  for (let round = 0; round < 8; round++) {
    for (let i = 0; i < 200; i++)
      log.add(
        event(`${round}-${i}`, {
          atMs: START_MS + round,
          text: long,
          by: long,
          reason: long,
          details: { long: long.repeat(6) },
        }),
      )
    await log.flush()
  }
  const text = shared.texts.get('hg:dashboard:events') ?? ''
  expect(Buffer.byteLength(text)).toBeLessThan(MAX_TEXT)
  expect(log.events().at(-1)).not.toHaveProperty('details')
  expect(log.events().at(-1)?.text).toHaveLength(500)
})

test('the identities of a ban stay in its event, by which it is listed, however long they are', () => {
  const log = eventLog(shared.documents, 'hg')
  const identities = Array.from({ length: 20 }, (_, i) => `${i}`.padStart(1024, 'x'))
  log.add(event('ban', { kind: 'block', details: { identities } }))
  expect(log.events().at(-1)?.details).toEqual({ identities })
})

test('of a store that fails for long, the last 200 events wait', () => {
  const log = eventLog(shared.documents, 'hg')
  for (let i = 0; i < 500; i++) log.add(event(`e${i}`))
  expect([log.events().length, log.events().at(-1)?.id]).toEqual([200, 'e499'])
})

test('the same state of a thing is logged once, and again after another state or ten minutes', () => {
  const open = (id: string, minutes: number, own = {}) =>
    event(id, {
      kind: 'breaker',
      about: 'redis',
      state: 'open',
      atMs: START_MS + minutes * MINUTE_MS,
      ...own,
    })
  const log = withEvents([], [open('a', 0), open('b', 1), open('other', 1, { about: 'sql' })])
  expect(idsOf(log)).toEqual(['a', 'other'])
  const closed = withEvents(log, [
    open('c', 2, { state: 'closed' }),
    open('d', 2, { state: 'closed' }),
    open('e', 3),
  ])
  expect(idsOf(closed)).toEqual(['a', 'other', 'c', 'e'])
  expect(idsOf(withEvents(closed, [open('f', 14)]))).toEqual(['a', 'other', 'c', 'e', 'f'])
})

test('a thing without states is logged once a minute', () => {
  const lost = (id: string, ms: number) =>
    event(id, { kind: 'limits-lost', about: 'redis', atMs: START_MS + ms })
  expect(idsOf(withEvents([], [lost('a', 0), lost('b', MINUTE_MS - 1), lost('c', MINUTE_MS)]))).toEqual([
    'a',
    'c',
  ])
})

test.each(['hello', '[]', '{"headgate":1}', '{"headgate":1,"events":7}', '{"headgate":7,"events":[]}', ''])(
  'the foreign text %j stays as it is',
  async (text) => {
    shared.texts.set('hg:dashboard:events', text)
    const log = eventLog(shared.documents, 'hg')
    log.add(event('a'))
    await expect(log.flush()).rejects.toThrow('which stays as it is')
    expect(shared.texts.get('hg:dashboard:events')).toBe(text)
    expect(idsOf(log.events())).toEqual(['a'])
  },
)

test('what is not an event is left out of a log', async () => {
  const events = [
    null,
    7,
    {},
    event('a'),
    { ...event('b'), atMs: 1e300 },
    { ...event('c'), by: 7 },
    { ...event('d'), details: 'x' },
  ]
  shared.texts.set('hg:dashboard:events', JSON.stringify({ headgate: 1, events }))
  const log = eventLog(shared.documents, 'hg')
  await log.read()
  expect(idsOf(log.events())).toEqual(['a'])
})
