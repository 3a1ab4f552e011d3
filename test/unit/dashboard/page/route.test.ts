import fc from 'fast-check'
import { pageModule } from '../../../support/page-module.js'

interface Route {
  readonly view: string
  readonly name: string
  readonly range: string
  readonly yesterday: boolean
  readonly state: string
  readonly search: string
}

const { readRoute, addressOf } = pageModule<{
  readRoute(hash: string): Route
  addressOf(route: Partial<Route>): string
}>('route.js')

const OVERVIEW: Route = { view: '', name: '', range: '15min', yesterday: false, state: '', search: '' }

test.each<readonly [hash: string, route: Partial<Route>]>([
  ['', {}],
  ['#', {}],
  ['#/', {}],
  ['#/?state=critical&q=login', { state: 'critical', search: 'login' }],
  ['#/limiter/api', { view: 'limiter', name: 'api' }],
  ['#/limiter/a%2Fb%3Fc', { view: 'limiter', name: 'a/b?c' }],
  ['#/limiter/a/b', { view: 'limiter', name: 'a/b' }],
  ['#/limiter/100%', { view: 'limiter', name: '100%' }],
  ['#/limiter/api?range=24h&yesterday=1', { view: 'limiter', name: 'api', range: '24h', yesterday: true }],
  ['#/limiter/api/edit', { view: 'edit', name: 'api' }],
  ['#/limiter/edit', { view: 'limiter', name: 'edit' }],
  ['#/limiter//edit', {}],
  ['#/edit/api', {}],
  ['#/in-force', { view: 'in-force' }],
  ['#/client?q=203.0.113.7', { view: 'client', search: '203.0.113.7' }],
  ['#/events', { view: 'events' }],
  ['#/limiter/', {}],
  ['#/none', {}],
  ['#/__proto__', {}],
  ['#/?range=7d&yesterday=yes', {}],
])('%s is read', (hash, route) => {
  expect(readRoute(hash)).toEqual({ ...OVERVIEW, ...route })
})

test('an address names each view, and leaves out what is as it is by default', () => {
  expect(addressOf({})).toBe('#/')
  expect(addressOf({ view: 'limiter', name: 'a/b?c', range: '15min', yesterday: false })).toBe(
    '#/limiter/a%2Fb%3Fc',
  )
  expect(addressOf({ view: 'edit', name: 'api' })).toBe('#/limiter/api/edit')
  expect(addressOf({ view: 'in-force' })).toBe('#/in-force')
  expect(addressOf({ range: '24h', state: 'warning', search: 'a b' })).toBe(
    '#/?range=24h&state=warning&q=a+b',
  )
})

test('what an address is made of is read from it again, whatever limiters and clients are called', () => {
  const text = fc.string({ unit: 'grapheme' })
  const routes = fc.record({
    view: fc.constant('limiter'),
    name: text.filter((name) => name !== ''),
    range: fc.constantFrom('15min', '24h'),
    yesterday: fc.boolean(),
    state: fc.constantFrom('', 'critical'),
    search: text,
  })
  fc.assert(
    fc.property(routes, (route) => {
      expect(readRoute(addressOf(route))).toEqual(route)
    }),
    { numRuns: 200 },
  )
})
