import { OutageWatch } from '../../../../src/dashboard/figures/outage.js'

let outage: OutageWatch
beforeEach(() => {
  outage = new OutageWatch()
})

test('an outage begins with the first decision without the store, and counts each by what decided it', () => {
  outage.count(1000, 'store')
  outage.count(2000, 'fail-open')
  outage.count(2001, 'fail-closed')
  expect(outage.report()).toBeUndefined() // the store may decide the next request
  outage.setState(2002, 'open', undefined)
  for (const source of ['local', 'local', 'none', 'deny-cache', 'blocked', 'lease'] as const)
    outage.count(2003, source)
  outage.setState(3000, 'half-open', undefined)
  expect(outage.report()).toEqual({
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
  expect(outage.report()).toMatchObject({ sinceMs: 5000, allowed: 0 })
})

test('decisions of the store do not end an outage while the circuit breaker is open: it may be one server', () => {
  outage.setState(1000, 'open', undefined)
  outage.count(1001, 'fail-open')
  outage.count(1002, 'store')
  outage.count(1003, 'fail-open')
  expect(outage.report()).toMatchObject({ sinceMs: 1000, allowed: 2, byStore: 1 })
})

test('an outage lasts until the circuit breakers of all servers are closed', () => {
  outage.setState(1000, 'open', 'first')
  outage.setState(1001, 'half-open', 'second')
  expect(outage.state).toBe('open')
  outage.setState(2000, 'closed', 'first')
  expect(outage.report()).toMatchObject({ sinceMs: 1000 })
  outage.setState(3000, 'closed', 'second')
  expect(outage.report()).toBeUndefined()
})

test('the next outage is counted from 0', () => {
  outage.setState(1000, 'open', undefined)
  outage.count(1001, 'fail-closed')
  outage.setState(2000, 'closed', undefined)
  expect(outage.report()).toBeUndefined()
  outage.setState(3000, 'open', undefined)
  expect(outage.report()).toEqual({
    sinceMs: 3000,
    allowed: 0,
    denied: 0,
    local: 0,
    byStore: 0,
    processes: 1,
    servers: [],
  })
})
