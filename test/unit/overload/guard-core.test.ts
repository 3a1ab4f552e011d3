import fc from 'fast-check'
import { AdaptiveLimit } from '../../../src/overload/adaptive-limit.js'
import { FairShares } from '../../../src/overload/fair-shares.js'
import { GuardCore } from '../../../src/overload/guard-core.js'
import type { Entry, Ticket } from '../../../src/overload/ticket.js'

interface Options {
  readonly initial?: number
  /** The limit until thirty requests have ended. Default: `initial`. */
  readonly max?: number
  readonly weightOf?: (id: string) => number
  readonly canWait?: boolean
}

function coreOf({ initial = 4, max = initial, weightOf, canWait = true }: Options = {}): GuardCore {
  const options = { initial, initialIfBusy: initial, min: 3, max, tolerance: 1.4, random: () => 0.5 }
  const limit = new AdaptiveLimit(options)
  const tenants = weightOf && new FairShares(weightOf)
  return new GuardCore({ limit, criticalShare: 0.2, targetWaitMs: 5, burstWaitMs: 100, tenants, canWait })
}

/** Offers a request, and notes what it settles with. */
function offer(core: GuardCore, nowMs: number, changes: Partial<Entry> = {}, isLate = false) {
  const settled: boolean[] = []
  const entry: Entry = {
    priority: 1,
    client: 1,
    settle: (isAdmitted) => settled.push(isAdmitted),
    ...changes,
  }
  return { settled, verdict: core.offer(entry, nowMs, isLate), ticket: entry as Ticket }
}

interface Count {
  sent: number
  admitted: number
}

const offers = (core: GuardCore, count: number, nowMs: number, changes?: Partial<Entry>) =>
  Array.from({ length: count }, () => offer(core, nowMs, changes))

test('requests get places up to the limit, and the next wait until one is given back', () => {
  const core = coreOf()
  const all = offers(core, 6, 0)
  expect(all.map(({ verdict }) => verdict)).toEqual([...Array(4).fill('admitted'), 'waiting', 'waiting'])
  expect([core.running, core.waiting]).toEqual([4, 2])
  core.end(all[0]?.ticket as Ticket, 10, 'all')
  expect(all.map(({ settled }) => settled)).toEqual([[], [], [], [], [true], []])
  expect([core.running, core.waiting]).toEqual([4, 1])
})

test('a request waits for a burst at most, and is denied then', () => {
  const core = coreOf()
  const all = offers(core, 5, 0)
  core.advance(100)
  expect([all[4]?.settled, core.waiting]).toEqual([[], 1])
  core.advance(100.001)
  expect([all[4]?.settled, core.waiting, all[4]?.ticket.state]).toEqual([[false], 0, 'over'])
})

test('while a class is denied, its requests wait shortly, and those of higher classes for a burst', () => {
  const core = coreOf()
  const sent = offers(core, 4, 0)
  for (let ms = 0; ms <= 400; ms++) {
    sent.push(offer(core, ms, { client: ms * 65_537 }))
    if (ms % 25 === 0)
      core.end(sent.find(({ ticket }) => ticket.state === 'running')?.ticket as Ticket, ms, 'all')
  }
  const [critical, usual] = [2, 1].map((priority) => offer(core, 401, { priority, client: 0xffff_ffff }))
  expect([critical?.verdict, usual?.verdict]).toEqual(['waiting', 'waiting'])
  core.advance(407)
  expect([critical?.settled, usual?.settled]).toEqual([[], [false]])
  core.advance(502)
  expect(critical?.settled).toEqual([false])
})

test('a request that is late when it is read is denied, even if there is a place', () => {
  const core = coreOf()
  expect([offer(core, 1000, {}, true), offer(core, 1000)].map(({ verdict }) => verdict)).toEqual([
    'denied',
    'admitted',
  ])
})

test('a place is given back once, however often a request ends', () => {
  const core = coreOf()
  const { ticket } = offer(core, 0)
  for (let i = 0; i < 3; i++) core.end(ticket, 10, 'all')
  core.leave(ticket)
  expect([core.running, core.waiting]).toEqual([0, 0])
})

test('a request that leaves the queue never settles, and holds up no other', () => {
  const core = coreOf({ weightOf: () => 1 })
  const all = offers(core, 7, 0, { tenantId: 'a' })
  core.leave(all[4]?.ticket as Ticket)
  core.leave(all[4]?.ticket as Ticket)
  core.end(all[4]?.ticket as Ticket, 1, 'all')
  expect(core.waiting).toBe(2)
  core.end(all[0]?.ticket as Ticket, 1, 'all')
  core.advance(200)
  expect(all.slice(4).map(({ settled }) => settled)).toEqual([[], [true], [false]])
  expect([core.running, core.waiting]).toEqual([4, 0])
})

test('after all that waited have left, a free place is taken at once', () => {
  const core = coreOf()
  const all = offers(core, 5, 0)
  core.leave(all[4]?.ticket as Ticket)
  core.end(all[0]?.ticket as Ticket, 1, 'all')
  expect(offer(core, 1).verdict).toBe('admitted')
})

test('critical requests are served first, and have places that others do not take', () => {
  const core = coreOf({ initial: 10 })
  offer(core, 0, { priority: 2 })
  const others = offers(core, 8, 0)
  expect(others.map(({ verdict }) => verdict)).toEqual([...Array(7).fill('admitted'), 'waiting'])
  const critical = offers(core, 3, 1, { priority: 2 })
  expect(critical.map(({ verdict }) => verdict)).toEqual(['admitted', 'admitted', 'waiting'])
  core.end(others[0]?.ticket as Ticket, 2, 'all')
  expect([critical[2]?.settled, others[7]?.settled]).toEqual([[true], []])
})

test('a minute after the last critical request, others take every place', () => {
  const core = coreOf({ initial: 10 })
  core.end(offer(core, 0, { priority: 2 }).ticket, 1, 'all')
  expect(offers(core, 10, 60_000).map(({ verdict }) => verdict)).toEqual(Array(10).fill('admitted'))
})

test('as many wait as come within the burst, and the higher class goes first', () => {
  const core = coreOf()
  const bulk = offers(core, 60, 0, { priority: 0 })
  const critical = offer(core, 0, { priority: 2 })
  expect([bulk.filter(({ verdict }) => verdict === 'denied'), core.waiting]).toEqual([[], 57])
  core.end(bulk[0]?.ticket as Ticket, 10, 'all')
  expect([critical.settled, bulk.some(({ settled }) => settled.length > 0)]).toEqual([[true], false])
})

test('requests that end inside settle are served one after the other', () => {
  const core = coreOf()
  const first = offers(core, 4, 0)
  let [depth, deepest, served] = [0, 0, 0]
  for (let i = 0; i < 40; i++) {
    const made: { ticket?: Ticket } = {}
    const settle = () => {
      deepest = Math.max(deepest, ++depth)
      served++
      core.end(made.ticket as Ticket, 1, 'all')
      depth--
    }
    made.ticket = offer(core, 0, { settle }).ticket
  }
  core.end(first[0]?.ticket as Ticket, 1, 'all')
  expect([served, deepest, core.running, core.waiting]).toEqual([40, 1, 3, 0])
})

test('an error that a settling request throws reaches the caller, and the queue goes on', () => {
  const core = coreOf()
  const [first] = offers(core, 4, 0)
  const broken = () => {
    throw new Error('broken')
  }
  offer(core, 0, { settle: broken })
  const next = offer(core, 0)
  expect(() => core.end(first?.ticket as Ticket, 1, 'all')).toThrow('broken')
  core.advance(101)
  expect([next.settled, core.waiting]).toEqual([[false], 0])
})

test('a core that closes denies what waits in each queue once, and lets nothing wait from then on', () => {
  const core = coreOf()
  const running = offers(core, 4, 0)
  const waiting = [0, 1, 2].flatMap((priority) => offers(core, 2, 0, { priority }))
  core.leave(waiting[0]?.ticket as Ticket)
  core.close(1)
  expect(waiting.map(({ settled }) => settled)).toEqual([[], [false], [false], [false], [false], [false]])
  expect([core.running, core.waiting, offer(core, 2).verdict]).toEqual([4, 0, 'denied'])
  core.close(3)
  for (const { ticket } of running.slice(0, 2)) core.end(ticket, 4, 'all')
  const verdicts = offers(core, 2, 5, { priority: 2 }).map(({ verdict }) => verdict)
  expect(verdicts).toEqual(['admitted', 'admitted'])
  expect(waiting.flatMap(({ settled }) => settled)).toHaveLength(5)
})

test('a core that is closed by a request that gets its place denies the others that wait', () => {
  const core = coreOf()
  const running = offers(core, 4, 0)
  const closing = offer(core, 0, { settle: () => core.close(10) })
  const last = offer(core, 0)
  core.end(running[0]?.ticket as Ticket, 10, 'all')
  expect([closing.ticket.state, last.settled, core.running, core.waiting]).toEqual(['running', [false], 4, 0])
})

test('without a queue, a request has a place at once or is denied', () => {
  const verdicts = offers(coreOf({ canWait: false }), 6, 0).map(({ verdict }) => verdict)
  expect(verdicts).toEqual([...Array(4).fill('admitted'), 'denied', 'denied'])
})

test('a probe takes nothing from what a tenant has saved of its share', () => {
  const core = coreOf({ initial: 20, max: 100, weightOf: () => 1 })
  const tenant = { tenantId: 'a' }
  for (const { ticket } of offers(core, 30, 9800)) core.end(ticket, 9810, 'all')
  for (const { ticket } of offers(core, 20, 9820)) core.end(ticket, 9850, 'all') // three times as long
  offers(core, 21, 10_000, tenant)
  core.advance(10_101) // denies the last one, so a probe begins
  const during = offer(core, 10_102, tenant)
  const later = offer(core, 11_500, tenant) // 20 places for 1.5 s are more than 5 s of three
  expect([core.limit.isProbing, during.ticket.rank % 2, later.ticket.rank % 2]).toEqual([true, 1, 1])
})

test('clients are read from the first request without a place on, until all find one again', () => {
  const core = coreOf()
  const reads: boolean[] = []
  const all = offers(core, 4, 0)
  reads.push(core.readsClients)
  offer(core, 0)
  reads.push(core.readsClients)
  for (const { ticket } of all) core.end(ticket, 10, 'all')
  for (let nowMs = 20; nowMs < 5000; nowMs += 10) core.end(offer(core, nowMs).ticket, nowMs + 1, 'all')
  reads.push(core.readsClients)
  expect(reads).toEqual([false, true, false])
})

/**
 * Plays so many seconds of 40 requests a second from fifty clients, and 1000 from one. Each runs for 40 ms.
 * Returns the shares that found a place.
 */
function flood(core: GuardCore, seconds: number) {
  const running: { ticket: Ticket; endsAtMs: number }[] = []
  const [ofFlood, ofOthers] = [0, 1].map(() => ({ sent: 0, admitted: 0 })) as [Count, Count]
  let nowMs = 0
  const send = (client: number, count: Count) => {
    const start = () => {
      running.push({ ticket: entry as unknown as Ticket, endsAtMs: nowMs + 40 })
      count.admitted++
    }
    const entry: Entry = { priority: 1, client, settle: (isAdmitted) => isAdmitted && start() }
    count.sent++
    if (core.offer(entry, nowMs) === 'admitted') start()
  }
  const endDue = () => {
    while (running[0] !== undefined && running[0].endsAtMs <= nowMs)
      core.end(running.shift()?.ticket as Ticket, nowMs, 'all')
  }
  for (; nowMs < 1000 * seconds; nowMs += 5) {
    endDue()
    core.advance(nowMs)
    for (let i = 0; i < 5; i++) send(7, ofFlood)
    if (nowMs % 25 === 0) send(Math.imul((nowMs / 25) % 50, 0x9e3779b1), ofOthers)
  }
  for (; core.running > 0; nowMs += 5) endDue()
  return [ofFlood, ofOthers].map(({ sent, admitted }) => admitted / sent) as [number, number]
}

test('while one client floods, nearly all requests of the others find a place', () => {
  const [ofFlood, ofOthers] = flood(coreOf({ initial: 8 }), 20)
  // of 200 places a second, 40 are for the others
  expect([ofFlood > 0.14, ofFlood < 0.17, ofOthers > 0.9]).toEqual([true, true, true])
})

test('no request is denied by its client while most places are free, however old the overload is', () => {
  const core = coreOf({ initial: 8 })
  flood(core, 5)
  const before = core.readsClients
  const verdicts: string[] = []
  for (let nowMs = 6000; nowMs < 200_000; nowMs += 5000) {
    const sent = offers(core, 3, nowMs, { priority: 0, client: nowMs })
    verdicts.push(...sent.map(({ verdict }) => verdict))
    for (const { ticket } of sent) core.end(ticket, nowMs + 40, 'all')
  }
  expect([before, core.readsClients, new Set(verdicts)]).toEqual([true, false, new Set(['admitted'])])
})

test('a clock that steps back stands still, and what waits is denied in time', () => {
  const core = coreOf()
  const all = offers(core, 5, 1_000_000)
  core.advance(0)
  core.advance(99)
  expect(all[4]?.settled).toEqual([])
  core.advance(101)
  expect(all[4]?.settled).toEqual([false])
})

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('offer' as const),
      priority: fc.integer({ min: 0, max: 2 }),
      client: fc.integer(),
      tenant: fc.constantFrom(undefined, 'a', 'b', 'c'),
      isLate: fc.constantFrom(false, false, false, false, true),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constantFrom('end' as const, 'leave' as const), which: fc.nat() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('advance' as const), ms: fc.integer({ min: -50, max: 400 }) }),
  },
)

test('whatever happens in any order, no place leaks and each request settles once', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 300 }), (steps) => {
      const core = coreOf({ weightOf: () => 1 })
      const all: { ticket: Ticket; wasWaiting: boolean; hasLeft: boolean; settled: boolean[] }[] = []
      let nowMs = 0
      for (const each of steps) {
        nowMs += 0.5
        if (each.type === 'offer') {
          const changes = { priority: each.priority, client: each.client, tenantId: each.tenant }
          const { verdict, ticket, settled } = offer(core, nowMs, changes, each.isLate)
          if (verdict === 'admitted' && core.running > Math.ceil(core.limit.current)) return false
          all.push({ ticket, settled, wasWaiting: verdict === 'waiting', hasLeft: false })
        } else if (each.type === 'advance') {
          nowMs += each.ms
          core.advance(nowMs)
        } else if (all.length > 0) {
          const picked = all[each.which % all.length] as (typeof all)[number]
          if (each.type === 'end') core.end(picked.ticket, nowMs, 'all', each.which % 3 > 0)
          else if (picked.ticket.state === 'waiting') {
            core.leave(picked.ticket)
            picked.hasLeft = true
          }
        }
        const inState = (state: string) => all.filter(({ ticket }) => ticket.state === state).length
        if (core.running !== inState('running') || core.waiting !== inState('waiting')) return false
      }
      for (const { ticket } of all) core.end(ticket, nowMs, 'all')
      for (let i = 1; core.waiting > 0 && i <= 100; i++) core.advance(nowMs + 60_000 * i)
      for (const { ticket } of all) core.end(ticket, nowMs + 6_000_000, 'all')
      const settles = all.every((each) => each.settled.length === (each.wasWaiting && !each.hasLeft ? 1 : 0))
      return settles && core.running === 0 && core.waiting === 0
    }),
    { numRuns: 60 },
  )
})
