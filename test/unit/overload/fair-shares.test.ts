import { FairShares, type Tenant } from '../../../src/overload/fair-shares.js'

const LIMIT = 16

/** Makes tenants known: each has held places briefly for more than 5 s. */
function known(shares: FairShares, ids: readonly string[], untilMs = 6000): Map<string, Tenant> {
  for (let nowMs = untilMs - 6000; nowMs < untilMs; nowMs += 250) {
    for (const id of ids) use(shares, id, nowMs)
  }
  return new Map(ids.map((id) => [id, shares.enter(id, untilMs)]))
}

function use(shares: FairShares, id: string, nowMs: number, heldMs = 1): void {
  const tenant = shares.enter(id, nowMs)
  shares.took(tenant, id, nowMs)
  shares.gaveBack(tenant, heldMs, nowMs)
}

test('a share is the limit by weight among active tenants', () => {
  const shares = new FairShares((id) => (id === 'large' ? 3 : 1))
  const tenants = known(shares, ['large', 'small'])
  // the budget of the new ones is active until 5 s after the last of them
  const found = ['large', 'small'].map((id) => shares.shareOf(tenants.get(id) as Tenant, LIMIT))
  expect(found).toEqual([(16 * 3) / 5, 16 / 5])
  for (const id of ['large', 'small']) shares.enter(id, 11_500)
  expect(shares.shareOf(tenants.get('small') as Tenant, LIMIT)).toBe(4)
})

test('a tenant that has been idle for 5 s lends its share', () => {
  const shares = new FairShares(() => 1)
  const [a] = [...known(shares, ['a', 'b']).values()]
  for (let nowMs = 6000; nowMs < 12_000; nowMs += 100) shares.enter('a', nowMs)
  expect(shares.shareOf(a as Tenant, LIMIT)).toBe(16)
})

test('a tenant that holds a place is active, however long ago it asked', () => {
  const shares = new FairShares(() => 1)
  const tenants = known(shares, ['a', 'b'])
  shares.took(tenants.get('b') as Tenant, 'b', 6000)
  for (let nowMs = 6000; nowMs < 60_000; nowMs += 100) shares.enter('a', nowMs)
  expect(shares.shareOf(tenants.get('a') as Tenant, LIMIT)).toBe(8)
})

test('a tenant that has used more than its share in the last seconds is beyond it', () => {
  const shares = new FairShares(() => 1)
  const a = known(shares, ['a', 'b']).get('a') as Tenant
  expect(shares.isWithinShare(a, LIMIT, 6000)).toBe(true)
  for (let i = 0; i < 10; i++) shares.took(a, 'a', 6000)
  for (let i = 0; i < 10; i++) shares.gaveBack(a, 10_000, 6000)
  for (let i = 0; i < 8; i++) shares.took(a, 'a', 6000)
  expect(shares.isWithinShare(a, LIMIT, 6000)).toBe(false)
  expect(shares.isWithinShare(a, LIMIT, 7000)).toBe(true) // 5.3 places refill 5000 within a second
})

test('only while another is denied within its share, a tenant has to keep to its own', () => {
  const shares = new FairShares(() => 1)
  const tenants = known(shares, ['a', 'b'])
  const [a, b] = [tenants.get('a') as Tenant, tenants.get('b') as Tenant]
  const caps = [shares.capOf(a, LIMIT, 6000)]
  shares.denied(b, LIMIT, 6000)
  caps.push(shares.capOf(a, LIMIT, 6000), shares.capOf(b, LIMIT, 6000), shares.capOf(a, LIMIT, 11_000))
  expect(caps).toEqual([16, 6, 16, 16])
})

test('a tenant that pushes on beyond its share has demerits, which decay', () => {
  const shares = new FairShares(() => 1)
  const tenants = known(shares, ['a', 'b'])
  const [a, b] = [tenants.get('a') as Tenant, tenants.get('b') as Tenant]
  shares.isWithinShare(a, LIMIT, 6000)
  for (let i = 0; i < 10; i++) shares.took(a, 'a', 6000)
  for (let i = 0; i < 10; i++) shares.gaveBack(a, 10_000, 6000)
  for (let i = 0; i < 10; i++) shares.took(a, 'a', 6000)
  for (let i = 0; i < 4; i++) shares.denied(a, LIMIT, 6000)
  shares.denied(b, LIMIT, 6000)
  const capAt = (nowMs: number) => {
    shares.denied(b, LIMIT, nowMs) // keeps contending
    return shares.capOf(a, LIMIT, nowMs)
  }
  expect([capAt(6000), capAt(8000)]).toEqual([6 - 4, 6 - (4 - 0.6)].map((each) => expect.closeTo(each, 9)))
  expect(capAt(10_000)).toBe(6) // 2.8 demerits are too few to count
})

test('all new tenants have one share together, however many names they invent', () => {
  const shares = new FairShares(() => 1)
  const tenants = known(shares, ['a', 'b', 'c'])
  const made = new Set<Tenant>()
  for (let i = 0; i < 20_000; i++) made.add(shares.enter(`invented ${i}`, 6000))
  expect([made.size, shares.shareOf(tenants.get('a') as Tenant, LIMIT)]).toEqual([1, 4])
})

test('the tables are bounded, and a known tenant stays known', () => {
  const shares = new FairShares(() => 1)
  const a = known(shares, ['a']).get('a')
  for (let i = 0; i < 100_000; i++) shares.enter(`invented ${i}`, 6000 + i / 100)
  expect(shares.enter('a', 8000)).toBe(a)
})

test('a name needs twenty requests that were admitted, and five seconds', () => {
  const shares = new FairShares(() => 1)
  const newcomers = shares.enter('other', 0)
  for (let i = 0; i < 20; i++) use(shares, 'a', i)
  for (let i = 0; i < 19; i++) use(shares, 'b', i)
  const found = [4999, 5000].map((nowMs) => shares.enter('a', nowMs) === newcomers)
  expect([...found, shares.enter('b', 60_000) === newcomers]).toEqual([true, false, true])
})
