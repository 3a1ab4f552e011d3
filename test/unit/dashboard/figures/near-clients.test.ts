import { NearClients } from '../../../../src/dashboard/figures/near-clients.js'
import type { PartDecision } from '../../../../src/limiter/decision.js'

const NOW_MS = 1_790_000_000_000

/** Returns a limit's part in an allowed decision. */
function partOf(remaining: number, { limit = 10, resetAfterMs = 60_000, name = 'api' } = {}): PartDecision {
  const times = { windowMs: 60_000, resetAfterMs, retryAfterMs: 0, moreAfterMs: 1000 }
  return { name, limit, remaining, cost: 1, allowed: true, ...times }
}

function note(clients: NearClients, identity: string, part: PartDecision, nowMs = NOW_MS): void {
  clients.note(nowMs, part, false, () => identity)
}

const identities = (clients: NearClients, nowMs = NOW_MS) =>
  clients.nearest(nowMs, 1000).map(({ identity }) => identity)

test('a client is listed from 80% of a limit on', () => {
  const clients = new NearClients()
  note(clients, 'ada', partOf(3))
  note(clients, 'bob', partOf(2))
  expect(clients.nearest(NOW_MS, 10)).toEqual([
    { limitName: 'api', identity: 'bob', limit: 10, remaining: 2, isLocal: false },
  ])
})

test('the identity is not read while no client is near a limit', () => {
  const clients = new NearClients()
  const identityOf = jest.fn(() => 'ada')
  clients.note(NOW_MS, partOf(9), false, identityOf)
  expect(identityOf).not.toHaveBeenCalled()
})

test('a client leaves the list once it has used less, and of this limit only', () => {
  const clients = new NearClients()
  note(clients, 'ada', partOf(1))
  note(clients, 'ada', partOf(1, { name: 'daily' }))
  note(clients, 'ada', partOf(5))
  expect(clients.nearest(NOW_MS, 10)).toMatchObject([{ limitName: 'daily', identity: 'ada' }])
})

test('a client is listed with what it had left last', () => {
  const clients = new NearClients()
  note(clients, 'ada', partOf(2))
  note(clients, 'ada', partOf(0))
  expect(clients.nearest(NOW_MS, 10)).toMatchObject([{ remaining: 0 }])
})

test('a client that does not come back leaves the list when all is back, and after 15 minutes at most', () => {
  const clients = new NearClients()
  note(clients, 'short', partOf(0, { resetAfterMs: 1000 }))
  note(clients, 'never', partOf(0, { resetAfterMs: Number.POSITIVE_INFINITY }))
  expect(identities(clients, NOW_MS + 999)).toEqual(['short', 'never'])
  expect(identities(clients, NOW_MS + 1000)).toEqual(['never'])
  expect(identities(clients, NOW_MS + 899_999)).toEqual(['never'])
  expect(identities(clients, NOW_MS + 900_000)).toEqual([])
})

test('those with the smallest share left come first, and no more than are asked for', () => {
  const clients = new NearClients()
  note(clients, 'a fifth', partOf(2))
  note(clients, 'nothing', partOf(0))
  note(clients, 'a hundredth', partOf(10, { limit: 1000, name: 'large' }))
  expect(identities(clients)).toEqual(['nothing', 'a hundredth', 'a fifth'])
  expect(clients.nearest(NOW_MS, 2)).toHaveLength(2)
})

test('100 clients are remembered: those who came near a limit most recently', () => {
  const clients = new NearClients()
  for (let i = 0; i < 600; i++) {
    note(clients, 'often', partOf(0))
    note(clients, `client-${i}`, partOf(0))
  }
  const listed = identities(clients)
  expect(listed).toHaveLength(100)
  expect(listed).toContain('often')
  expect(listed).toContain('client-599')
  expect(listed).not.toContain('client-0')
})

test('of 100 clients in any order, the nearest are the same as if all were sorted', () => {
  const clients = new NearClients()
  const shares = Array.from({ length: 100 }, (_, i) => (i * 7919) % 2000)
  for (const [i, remaining] of shares.entries())
    note(clients, `client-${i}`, partOf(remaining, { limit: 10_000 }))
  const nearest = (most: number) => clients.nearest(NOW_MS, most).map(({ remaining }) => remaining)
  const sorted = shares.toSorted((a, b) => a - b)
  expect([0, 1, 20, 499, 1000].map(nearest)).toEqual(
    [0, 1, 20, 499, 1000].map((most) => sorted.slice(0, most)),
  )
})
