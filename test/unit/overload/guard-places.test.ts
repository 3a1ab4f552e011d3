import { AdaptiveLimit } from '../../../src/overload/adaptive-limit.js'
import { CRITICAL } from '../../../src/overload/cohorts.js'
import { FairShares } from '../../../src/overload/fair-shares.js'
import { GuardPlaces } from '../../../src/overload/guard-places.js'
import { rankOf, type Ticket } from '../../../src/overload/ticket.js'

const LIMIT = 10

/** The places of a guard whose limit does not move. */
function placesOf(weightOf?: (id: string) => number): GuardPlaces {
  const limit = new AdaptiveLimit({
    ...{ initial: LIMIT, initialIfBusy: LIMIT, min: LIMIT, max: LIMIT, tolerance: 1.4 },
    random: () => 0.5,
  })
  return new GuardPlaces({ limit, criticalShare: 0.2, tenants: weightOf && new FairShares(weightOf) })
}

/** A request. If it has a tenant, it ranks as one beyond its share. */
function ticketOf(places: GuardPlaces, nowMs: number, priority = 1, tenantId?: string): Ticket {
  const ticket = { arrivedAtMs: nowMs, state: 'waiting', startedAtMs: 0, epoch: 0, client: 1 } as const
  const tenant = places.enter(tenantId, nowMs)
  return { ...ticket, priority, tenant, tenantId, rank: rankOf(priority, tenant === undefined), settle() {} }
}

/** Takes places for requests like this one, as many as there are. Returns how many. */
function takeAll(places: GuardPlaces, ticket: Ticket, nowMs: number): number {
  const before = places.taken
  while (places.taken < 3 * LIMIT && places.isAnyFor(ticket, nowMs)) places.take(ticket, nowMs)
  return places.taken - before
}

test('there are as many places as the limit, and one that is given back is free again', () => {
  const places = placesOf()
  const ticket = ticketOf(places, 0)
  expect([takeAll(places, ticket, 0), places.isAnyFor(ticket, 0)]).toEqual([LIMIT, false])
  places.giveBack(ticket, 1)
  expect([places.taken, takeAll(places, ticket, 1)]).toEqual([LIMIT - 1, 1])
})

test('for a minute after a critical request, a fifth of the places is left for others like it', () => {
  const places = placesOf()
  places.recordCritical(0)
  const [usual, critical] = [1, CRITICAL].map((priority) => ticketOf(places, 0, priority)) as [Ticket, Ticket]
  const taken = [takeAll(places, usual, 0), takeAll(places, critical, 0)]
  places.giveBack(critical, 1)
  expect([...taken, takeAll(places, usual, 59_999), takeAll(places, usual, 60_000)]).toEqual([8, 2, 0, 1])
})

test('a probe leaves critical requests their fifth of the limit', () => {
  const options = { initial: 100, initialIfBusy: 100, min: 3, max: 100, tolerance: 1.4, random: () => 0.5 }
  const limit = new AdaptiveLimit(options)
  limit.advance(-100, 0)
  const epochs = Array.from({ length: 30 }, () => limit.begin(0))
  for (const epoch of epochs) limit.end('all', 10, epoch, 1)
  limit.advance(10, 20) // they take longer and longer
  limit.recordDenial(11)
  limit.advance(12, 0)
  const places = new GuardPlaces({ limit, criticalShare: 0.2 })
  const taken = [1, CRITICAL].map((priority) => takeAll(places, ticketOf(places, 12, priority), 12))
  expect([limit.isProbing, ...taken]).toEqual([true, 3, 17])
})

test('most places are free while fewer than half of them are taken', () => {
  const places = placesOf()
  const ticket = ticketOf(places, 0)
  const found = Array.from({ length: 6 }, () => {
    const { areMostFree } = places
    places.take(ticket, 0)
    return areMostFree
  })
  expect(found).toEqual([true, true, true, true, true, false])
})

/** Makes tenants known, with their own shares. Returns when that was. */
function introduce(places: GuardPlaces, ...names: string[]): number {
  const lastMs = 10_000
  for (let nowMs = 0; nowMs <= lastMs; nowMs += 250) {
    for (const name of names) {
      const ticket = ticketOf(places, nowMs, 1, name)
      places.take(ticket, nowMs)
      places.giveBack(ticket, nowMs)
    }
  }
  return lastMs
}

test('while another tenant is denied within its share, one beyond its share leaves a fifth free', () => {
  const places = placesOf(() => 1)
  const nowMs = introduce(places, 'ada', 'bob')
  const [ada, bob] = ['ada', 'bob'].map((name) => ticketOf(places, nowMs, 1, name)) as [Ticket, Ticket]
  const withoutContention = takeAll(places, ada, nowMs)
  places.recordDenial(bob, nowMs)
  for (let i = 0; i < 3; i++) places.giveBack(ada, nowMs)
  const underContention = takeAll(places, ada, nowMs) // 7 are taken
  const ofOther = takeAll(places, { ...bob, rank: rankOf(1, true) }, nowMs)
  expect([withoutContention, underContention, ofOther]).toEqual([10, 1, 2])
})

test('a guard without tenants has no shares', () => {
  const places = placesOf()
  const ticket = ticketOf(places, 0, 1, 'ada')
  places.recordDenial(ticket, 0)
  expect([ticket.tenant, places.isWithinShare(ticket, 0)]).toEqual([undefined, true])
})
