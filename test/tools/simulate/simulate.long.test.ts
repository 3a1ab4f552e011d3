import { boundOf, DEFAULTS, type Scenario } from './scenario.js'
import { simulate } from './simulate.js'

/** Half of the requests are over the limit. */
const BUSY: Scenario = { ...DEFAULTS, rate: 1000, seconds: 2, keys: 50, limit: 10, window: 2000 }
const HOT: Scenario = { ...BUSY, rate: 2000, keys: 1, limit: 1000, window: 1000, processes: 4 }

test('the same scenario has the same outcome, and another seed another one', async () => {
  const outcome = await simulate(BUSY)
  expect(await simulate(BUSY)).toEqual(outcome)
  expect(await simulate({ ...BUSY, seed: 2 })).not.toEqual(outcome)
})

test.each<[string, Partial<Scenario>]>([
  ['token buckets', {}],
  ['fixed windows', { policy: 'fixed-window' }],
  ['Zipf', { zipf: 1 }],
  ['without the denial cache', { 'deny-cache': 0 }],
  ['over a slow network', { latency: 10, p99: 50, 'on-store-error': 'deny' }],
  ['on a Cluster', { nodes: 5 }],
  ['a hot key', HOT],
  ['in a database', { store: 'postgres' }],
  ['a hot key, leased', { ...HOT, lease: true }],
  ['a node that is lost, and the others deny', { nodes: 3, lost: true, 'on-store-error': 'deny' }],
])('nothing is admitted beyond the bound of the policy: %s', async (_name, changes) => {
  const scenario = { ...BUSY, ...changes }
  const { decisions, admitted, over } = await simulate(scenario)
  expect(decisions).toBeGreaterThan(1700)
  expect(admitted).toBeGreaterThan(0)
  expect(over).toBe(0)
  expect(admitted).toBeLessThanOrEqual(boundOf(scenario, 2100) * scenario.keys)
})

test('while a node is lost, a store error allows more than the bound', async () => {
  const { over, bySource } = await simulate({ ...BUSY, lost: true, 'on-store-error': 'allow' })
  expect(over).toBeGreaterThan(0)
  expect(bySource['fail-open']).toBeGreaterThanOrEqual(over)
})

test('a lost node is noticed by time-outs, and requests wait no longer than that', async () => {
  const { waits } = await simulate({ ...BUSY, rate: 700, seconds: 6, lost: true })
  expect(waits.max).toBeGreaterThanOrEqual(100)
  expect(waits.max).toBeLessThan(105)
})

test('one process that waits for nobody admits what the ideal limiter admits', async () => {
  const outcome = await simulate({ ...BUSY, processes: 1, latency: 0.001, p99: 0.001 })
  expect(outcome.ideal).toBeLessThan(outcome.decisions)
  expect([outcome.admitted, outcome.unused]).toEqual([outcome.ideal, 0])
})

test('the denial cache and leases save round trips', async () => {
  const plain = await simulate({ ...HOT, 'deny-cache': 0 })
  const leased = await simulate({ ...HOT, lease: true })
  expect(plain.roundTrips).toBeGreaterThan(0.5 * plain.decisions)
  expect(leased.roundTrips).toBeLessThan(0.5 * plain.roundTrips)
  const cached = await simulate({ ...BUSY, zipf: 1.5 })
  const uncached = await simulate({ ...BUSY, zipf: 1.5, 'deny-cache': 0 })
  expect(cached.roundTrips).toBeLessThan(0.8 * uncached.roundTrips)
  expect(cached.admitted).toBe(uncached.admitted)
})

test('leased units that lie in one process are missing in another', async () => {
  const { unused, ideal } = await simulate({ ...HOT, lease: true })
  expect(unused).toBeGreaterThan(0)
  expect(unused / ideal).toBeLessThan(1 / 16)
})

test('a busy node is sent larger batches, until it serves all requests', async () => {
  const costs = { requestUs: 40, callUs: 0, keyUs: 2, chargeUs: 0 }
  const rate = 70_000 // three times as many as it could serve one by one
  const { nodes, roundTrips, decisions, bySource } = await simulate(
    { ...DEFAULTS, rate, seconds: 0.2 },
    costs,
  )
  expect(bySource).toEqual({ store: decisions })
  expect(nodes[0]?.load).toBeCloseTo(1, 1)
  expect(roundTrips).toBeLessThan(decisions / 3)
  expect(roundTrips).toBe(nodes[0]?.requests)
})

test('a Cluster spreads even keys evenly, and a node that is slower is busier', async () => {
  const even = await simulate({ ...DEFAULTS, seconds: 0.3, nodes: 3 })
  const requests = even.nodes.map((node) => node.requests)
  expect(Math.min(...requests) / Math.max(...requests)).toBeGreaterThan(0.9)
  const [slow, ...others] = (await simulate({ ...DEFAULTS, seconds: 0.3, nodes: 3, slow: 2 })).nodes
  for (const other of others) expect((slow?.load ?? 0) / other.load).toBeCloseTo(2, 0)
})

test('clocks that disagree admit more on memcached, and nothing where the server has a clock', async () => {
  const memcached: Scenario = { ...BUSY, store: 'memcached', policy: 'fixed-window', window: 1000 }
  const [agree, apart] = [await simulate(memcached), await simulate({ ...memcached, skew: 500 })]
  expect(agree.over).toBe(0)
  expect(apart.admitted).toBeGreaterThan(agree.admitted)
  const redis: Scenario = { ...memcached, store: 'redis' }
  expect((await simulate({ ...redis, skew: 500 })).over).toBe(0)
})
