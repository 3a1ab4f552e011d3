import { FairShares } from '../../../src/overload/fair-shares.js'
import type { Tenant } from '../../../src/overload/tenant.js'

const LIMIT = 16

/** Makes tenants known: each has held places briefly for more than 5 s. */
function known(shares: FairShares, ids: readonly string[], untilMs = 6000): Map<string, Tenant> {
  for (let nowMs = untilMs - 6000; nowMs < untilMs; nowMs += 250) {
    for (const id of ids) use(shares, id, nowMs)
  }
  return new Map(ids.map((id) => [id, shares.enter(id, untilMs)]))
}

function use(shares: FairShares, id: string, nowMs: number): void {
  const tenant = shares.enter(id, nowMs)
  shares.takePlace(tenant, id, nowMs)
  shares.returnPlace(tenant, nowMs + 1)
}

/** Has a tenant hold places for 4 s. */
function hold(shares: FairShares, tenant: Tenant, places: number, untilMs: number): void {
  for (let i = 0; i < places; i++) shares.takePlace(tenant, tenant.id, untilMs - 4000)
  for (let i = 0; i < places; i++) shares.returnPlace(tenant, untilMs)
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

test.each([
  [1e17, 1],
  [3, 1e17],
])('what rounding costs while a weight of %p times %p is active does not stay', (weight, factor) => {
  const shares = new FairShares((id) => (id === 'large' ? weight : 1))
  const tenants = known(shares, ['a', 'b', 'large'])
  const large = tenants.get('large') as Tenant
  for (let nowMs = 6000; nowMs < 30_000; nowMs += 100) {
    for (const id of ['a', 'b']) shares.enter(id, nowMs)
    if (nowMs % 6000 !== 0) continue
    shares.enter('large', nowMs)
    shares.setFactor(large, factor)
  }
  expect(['a', 'b'].map((id) => shares.shareOf(tenants.get(id) as Tenant, LIMIT))).toEqual([8, 8])
})

test('a tenant that holds a place is active, however long ago it asked', () => {
  const shares = new FairShares(() => 1)
  const tenants = known(shares, ['a', 'b'])
  shares.takePlace(tenants.get('b') as Tenant, 'b', 6000)
  for (let nowMs = 6000; nowMs < 60_000; nowMs += 100) shares.enter('a', nowMs)
  expect(shares.shareOf(tenants.get('a') as Tenant, LIMIT)).toBe(8)
})

test('a tenant that has used more than its share in the last seconds is beyond it', () => {
  const shares = new FairShares(() => 1)
  const a = known(shares, ['a', 'b']).get('a') as Tenant
  expect(shares.isWithinShare(a, LIMIT, 6000)).toBe(true)
  hold(shares, a, 16, 10_000)
  shares.enter('b', 10_000)
  for (let i = 0; i < 8; i++) shares.takePlace(a, 'a', 10_000)
  expect(shares.isWithinShare(a, LIMIT, 10_000)).toBe(false)
  for (let i = 0; i < 8; i++) shares.returnPlace(a, 10_000)
  for (let i = 0; i < 8; i++) shares.takePlace(a, 'a', 10_700)
  expect(shares.isWithinShare(a, LIMIT, 10_700)).toBe(true) // it owed 5 s of a place, no more
})

test('a tenant is beyond its share while its requests run, and not once they end', () => {
  const shares = new FairShares(() => 1)
  const a = known(shares, ['a', 'b']).get('a') as Tenant
  for (let i = 0; i < LIMIT; i++) shares.takePlace(a, 'a', 6000)
  const isWithinAt = [6000, 8400, 8600].map((nowMs) => shares.isWithinShare(a, LIMIT, nowMs))
  // it has saved 5 s of 5.3 places, and uses 10.7 more: for 2.5 s
  expect(isWithinAt).toEqual([true, true, false])
})

test('only while another is denied within its share, a tenant has to keep to its own', () => {
  const shares = new FairShares(() => 1)
  const tenants = known(shares, ['a', 'b'])
  const [a, b] = [tenants.get('a') as Tenant, tenants.get('b') as Tenant]
  const caps = [shares.capOf(a, LIMIT, 6000)]
  shares.recordDenial(b, LIMIT, 6000)
  caps.push(shares.capOf(a, LIMIT, 6000), shares.capOf(b, LIMIT, 6000), shares.capOf(a, LIMIT, 11_000))
  expect(caps).toEqual([16, 6, 16, 16])
})

test('a tenant that pushes on beyond its share has demerits, which decay', () => {
  const shares = new FairShares(() => 1)
  const tenants = known(shares, ['a', 'b'])
  const [a, b] = [tenants.get('a') as Tenant, tenants.get('b') as Tenant]
  shares.isWithinShare(a, LIMIT, 2000)
  hold(shares, a, 16, 6000)
  for (let i = 0; i < 10; i++) shares.takePlace(a, 'a', 6000)
  for (let i = 0; i < 4; i++) shares.recordDenial(a, LIMIT, 6000)
  shares.recordDenial(b, LIMIT, 6000)
  const capAt = (nowMs: number) => {
    shares.recordDenial(b, LIMIT, nowMs) // keeps contending
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

/** Has new tenants send requests in turn, of which every second one is admitted. Returns how many have their own shares. */
function ownShares(shares: FairShares, names: number, fromMs: number, untilMs: number): number {
  const newcomers = shares.enter('a stranger', fromMs)
  const own = new Set<Tenant>()
  for (let nowMs = fromMs; nowMs < untilMs; nowMs += 2) {
    const id = `new ${(nowMs / 2) % names}`
    const tenant = shares.enter(id, nowMs)
    if (tenant !== newcomers) own.add(tenant)
    shares.takePlace(tenant, id, nowMs)
    shares.returnPlace(tenant, nowMs)
    shares.recordDenial(newcomers, LIMIT, nowMs)
  }
  return own.size
}

test('while new tenants are denied, one gets its own share every 10 s', () => {
  const shares = new FairShares(() => 1)
  known(shares, ['a', 'b', 'c'])
  expect(ownShares(shares, 200, 6000, 60_000)).toBe(5)
  expect(ownShares(shares, 200, 60_000, 120_000)).toBe(11)
})

test('tenants that are there when the guard starts get their own shares after 5 s, whoever is denied', () => {
  const shares = new FairShares(() => 1)
  expect(ownShares(shares, 50, 0, 7000)).toBe(50)
})

test('the tables are bounded, and a known tenant stays known', () => {
  const shares = new FairShares(() => 1)
  const a = known(shares, ['a']).get('a')
  for (let i = 0; i < 100_000; i++) shares.enter(`invented ${i}`, 6000 + i / 100)
  expect(shares.enter('a', 8000)).toBe(a)
})

/** Names that come once each, 2500 in a second, and a tenant that sends 10 requests in a second. Returns whether it is new. */
function isNewAmongNames(shares: FairShares, areAdmitted: boolean): boolean {
  const newcomers = shares.enter('other', 0)
  for (let i = 0; i < 30_000; i++) {
    const nowMs = 6000 + 0.4 * i
    if (areAdmitted) use(shares, `invented ${i}`, nowMs)
    else shares.enter(`invented ${i}`, nowMs)
    if (i % 250 === 0) use(shares, 'real', nowMs)
  }
  return shares.enter('real', 18_000) === newcomers
}

test.each([
  ['denied', false],
  ['admitted', true],
])(
  'names that are invented for one request each, which is %s, keep no tenant from its own share',
  (_, are) => {
    expect(isNewAmongNames(new FairShares(() => 1), are)).toBe(false)
  },
)

test('a wrong weight throws when a name comes, and not when its request is admitted', () => {
  const shares = new FairShares((id) => {
    if (id === 'a') throw new TypeError('no weight')
    return 1
  })
  expect(() => shares.enter('a', 0)).toThrow('no weight')
  const newcomers = shares.enter('b', 0)
  expect(() => shares.takePlace(newcomers, 'a', 0)).not.toThrow()
})

test('a name needs twenty requests that were admitted, and five seconds', () => {
  const shares = new FairShares(() => 1)
  const newcomers = shares.enter('other', 0)
  for (let i = 0; i < 20; i++) use(shares, 'a', i)
  for (let i = 0; i < 19; i++) use(shares, 'b', i)
  const found = [4999, 5000].map((nowMs) => shares.enter('a', nowMs) === newcomers)
  expect([...found, shares.enter('b', 60_000) === newcomers]).toEqual([true, false, true])
})
