import { mergeOutages, type OutageReport, OutageWatch } from '../../../../src/dashboard/figures/outage.js'

let outage: OutageWatch
beforeEach(() => {
  outage = new OutageWatch()
})

test('an outage begins with the first decision without the store, and counts each by what decided it', () => {
  outage.count(1000, 'store')
  outage.count(2000, 'fail-open')
  outage.count(2001, 'fail-closed')
  expect(outage.report(9000)).toBeUndefined() // the store may decide the next request
  outage.setState(2002, 'open', undefined)
  for (const source of ['local', 'local', 'none', 'deny-cache', 'blocked', 'lease'] as const)
    outage.count(2003, source)
  outage.setState(3000, 'half-open', undefined)
  expect(outage.report(9000)).toEqual({
    sinceMs: 2000,
    allowed: 1,
    denied: 1,
    local: 2,
    byStore: 0,
    processes: 1,
    servers: [],
  })
})

test('a failure that the store recovers from belongs to no later outage', () => {
  outage.count(1000, 'fail-open')
  outage.count(1001, 'store')
  outage.setState(5000, 'open', undefined)
  expect(outage.report(9000)).toMatchObject({ sinceMs: 5000, allowed: 0 })
})

test('decisions of the store do not end an outage while the circuit breaker is open: it may be one server', () => {
  outage.setState(1000, 'open', undefined)
  outage.count(1001, 'fail-open')
  outage.count(1002, 'store')
  outage.count(1003, 'fail-open')
  expect(outage.report(9000)).toMatchObject({ sinceMs: 1000, allowed: 2, byStore: 1 })
})

test('an outage lasts until the circuit breakers of all servers are closed', () => {
  outage.setState(1000, 'open', 'first')
  outage.setState(1001, 'half-open', 'second')
  expect(outage.state).toBe('open')
  outage.setState(2000, 'closed', 'first')
  expect(outage.report(9000)).toMatchObject({ sinceMs: 1000 })
  outage.setState(3000, 'closed', 'second')
  expect(outage.report(9000)).toBeUndefined()
})

test('the next outage is counted from 0', () => {
  outage.setState(1000, 'open', undefined)
  outage.count(1001, 'fail-closed')
  outage.setState(2000, 'closed', undefined)
  expect(outage.report(9000)).toBeUndefined()
  outage.setState(3000, 'open', undefined)
  expect(outage.report(9000)).toEqual({
    sinceMs: 3000,
    allowed: 0,
    denied: 0,
    local: 0,
    byStore: 0,
    processes: 1,
    servers: [],
  })
})

test('a reply that comes late says for five seconds that the store works, but too slowly', () => {
  outage.setState(1000, 'open', undefined)
  expect(outage.report(1000)).not.toHaveProperty('lateMs')
  outage.countLate(2000, 410.4)
  const lateAt = [2000, 6999, 7000, -4000].map((atMs) => outage.report(atMs)?.lateMs)
  expect(lateAt).toEqual([410, 410, undefined, undefined])
})

test('the slowest late reply that processes report is that of all', () => {
  const [first, second] = [new OutageWatch(), new OutageWatch()]
  for (const each of [outage, first, second]) each.setState(1000, 'open', undefined)
  first.countLate(1500, 300)
  second.countLate(1600, 500)
  const [none, a, b] = [outage, first, second].map((each) => each.report(2000)) as [
    OutageReport,
    OutageReport,
    OutageReport,
  ]
  expect(
    [mergeOutages(none, none), mergeOutages(none, a), mergeOutages(a, b)].map(({ lateMs }) => lateMs),
  ).toEqual([undefined, 300, 500])
})
