import { Denials, mergeDenials } from '../../../../src/dashboard/figures/denials.js'
import { nameHash } from '../../../../src/util/distinct-names.js'
import { distinctIn } from '../../../../src/util/distinct-sample.js'

const START_MS = 1_790_000_000_000
const MINUTE_MS = 60_000
const originOf = (address: string, route = 'GET /a') => ({
  route,
  addressHash: nameHash(address),
  network: `${address.slice(0, address.lastIndexOf('.'))}.0/24`,
})

function shown(denials: Denials, nowMs: number) {
  const { denied, clients, addresses, networkNames, routes, networks } = denials.figures(nowMs)
  return {
    denied,
    clients: distinctIn(clients),
    addresses: distinctIn(addresses),
    networkCount: distinctIn(networkNames),
    routes,
    networks: networks.map((each) => [each.network, each.denied, distinctIn(each.addresses)]),
  }
}

test('denials have their clients, addresses, routes and networks, the worst first', () => {
  const denials = new Denials()
  for (let i = 0; i < 60; i++) denials.count(START_MS, [`api c${i % 7}`], originOf(`203.0.113.${i % 40}`))
  for (let i = 0; i < 5; i++) denials.count(START_MS, ['api ada'], originOf('198.51.100.1', 'GET /b'))
  expect(shown(denials, START_MS)).toEqual({
    denied: 65,
    clients: 8,
    addresses: 41,
    networkCount: 2,
    routes: [
      ['GET /a', 60],
      ['GET /b', 5],
    ],
    networks: [
      ['203.0.113.0/24', 60, 40],
      ['198.51.100.0/24', 5, 1],
    ],
  })
})

test('all networks are counted, in all processes together, although the figures list only some of them', () => {
  const [one, other] = [new Denials(), new Denials()]
  for (let i = 0; i < 212; i++) {
    one.count(START_MS, ['login ada'], originOf(`10.0.${i}.1`))
    other.count(START_MS, ['login ada'], originOf(`10.0.${(i + 30) % 230}.1`))
  }
  expect(shown(one, START_MS)).toMatchObject({ addresses: 212, networkCount: 212 })
  const merged = mergeDenials([one.figures(START_MS), other.figures(START_MS)])
  expect([distinctIn(merged.networkNames), merged.networks.length]).toEqual([230, 16])
})

test('a run lasts while denials are at most a minute apart, and a new one begins with nothing', () => {
  const denials = new Denials()
  expect(denials.run(START_MS)).toBeUndefined()
  for (let minute = 0; minute < 5; minute++)
    denials.count(START_MS + minute * MINUTE_MS, ['api ada'], originOf('203.0.113.1'))
  const lastMs = START_MS + 4 * MINUTE_MS
  expect(denials.run(lastMs)).toMatchObject({ sinceMs: START_MS, lastMs })
  const laterMs = START_MS + 5 * MINUTE_MS + 1
  denials.count(laterMs, ['api bob'], originOf('203.0.113.2'))
  expect(denials.run(laterMs)).toMatchObject({ sinceMs: laterMs, lastMs: laterMs })
  expect(shown(denials, laterMs)).toMatchObject({ denied: 1, clients: 1, addresses: 1 })
})

test('what is older than 15 minutes no longer counts, although the run goes on', () => {
  const denials = new Denials()
  for (let minute = 0; minute <= 30; minute++)
    denials.count(START_MS + minute * MINUTE_MS, [`api c${minute}`], originOf(`203.0.113.${minute}`))
  const { denied, clients } = shown(denials, START_MS + 30 * MINUTE_MS)
  expect(denials.run(START_MS + 30 * MINUTE_MS)?.sinceMs).toBe(START_MS)
  expect([denied, clients]).toEqual([11, 11]) // two whole spans of five minutes, and the one that begins
})

test('a flood of networks keeps the one that is denied most', () => {
  const denials = new Denials()
  for (let i = 0; i < 5000; i++) {
    denials.count(START_MS, ['api x'], originOf(`10.${i >> 8}.${i & 255}.1`))
    if (i % 10 === 0) denials.count(START_MS, ['api x'], originOf(`203.0.113.${i % 256}`))
  }
  const { networks, routes } = shown(denials, START_MS)
  expect(networks[0]).toEqual(['203.0.113.0/24', 500, 128])
  expect(networks).toHaveLength(16)
  expect(routes).toEqual([['GET /a', 5500]])
})

test('a flood of routes keeps the one that is denied most, and reports ten at most', () => {
  const denials = new Denials()
  for (let i = 0; i < 5000; i++) {
    denials.count(START_MS, ['api x'], originOf('203.0.113.1', `GET /random-${i}`))
    denials.count(START_MS, ['api x'], originOf('203.0.113.1', 'GET /search'))
  }
  const { routes } = shown(denials, START_MS)
  expect(routes[0]?.[0]).toBe('GET /search')
  expect(routes.length).toBeLessThanOrEqual(10)
})

test('a clock that steps back does not end a run', () => {
  const denials = new Denials()
  denials.count(START_MS, ['api ada'], originOf('203.0.113.1'))
  denials.count(START_MS - 5000, ['api ada'], originOf('203.0.113.1'))
  expect(denials.run(START_MS)).toMatchObject({ sinceMs: START_MS - 5000, lastMs: START_MS - 5000 })
  expect(shown(denials, START_MS).denied).toBe(2)
})

test('the figures of processes add up, and a client that both have denied is one', () => {
  const [one, two] = [new Denials(), new Denials()]
  for (let i = 0; i < 30; i++) one.count(START_MS, [`api c${i}`], originOf(`203.0.113.${i}`))
  for (let i = 20; i < 40; i++) two.count(START_MS, [`api c${i}`], originOf(`203.0.113.${i}`))
  const merged = mergeDenials([one.figures(START_MS), two.figures(START_MS)])
  expect([merged.denied, distinctIn(merged.clients), distinctIn(merged.addresses)]).toEqual([50, 40, 40])
  expect(merged.networks.map((each) => [each.denied, distinctIn(each.addresses)])).toEqual([[50, 40]])
  expect(merged.routes).toEqual([['GET /a', 50]])
})
