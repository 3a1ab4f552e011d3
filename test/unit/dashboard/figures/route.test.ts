import { foldedPath, routeOf } from '../../../../src/dashboard/figures/route.js'

const request = (own: object) => ({ headers: {}, socket: { remoteAddress: '203.0.113.7' }, ...own })

const ROUTES: readonly (readonly [object, string | undefined])[] = [
  [{ method: 'GET', url: '/' }, 'GET /'],
  [{ method: 'POST', url: '/search?q=a#b' }, 'POST /search'],
  [{ method: 'GET', url: '/users/42/orders/8c1d' }, 'GET /users/:id/orders/8c1d'],
  [{ method: 'GET', url: '/users/42', route: { path: '/users/:user' } }, 'GET /users/:user'],
  [{ method: 'GET', url: '/42', baseUrl: '/orgs/7', route: { path: '/:team' } }, 'GET /orgs/:id/:team'],
  [{ method: 'GET', url: '/a', routeOptions: { url: '/fastify/:id' } }, 'GET /fastify/:id'],
  [{ method: 'GET', url: '/x', originalUrl: '/api/x' }, 'GET /api/x'],
  [{ method: 'GET', url: '/a', route: { path: /^\/a/ } }, 'GET /a'],
  [{ method: 'get', url: '/' }, '* /'],
  [{ method: 'A'.repeat(500), url: '/' }, '* /'],
  [{ method: 'GET' }, 'GET '],
  [{ method: 5, url: '/' }, undefined],
  [{}, undefined],
]

test.each(ROUTES)('the route of %j is %j', (own, route) => {
  expect(routeOf(request(own))).toBe(route)
})

const PATHS: readonly (readonly [unknown, string])[] = [
  ['/3f2504e0-4f89-11d3-9a0c-0305e82c3301/files', '/:id/files'],
  ['/posts/how-to-build-a-limiter-7', '/posts/:id'],
  ['/v1/oauth2/token', '/v1/oauth2/token'],
  ['/a//b/', '/a//b/'],
  ['/%2e%2e/etc', '/:id/etc'],
  ['/caf\u00e9/\u202eevil', '/:id/:id'],
  ['/a/b/c/d/e/f/g/h', '/a/b/c/d/e/f/…'],
  [`/${'x'.repeat(33)}`, '/:id'],
  [`/${'x/'.repeat(100_000)}`, '/x/x/x/x/x/x/…'],
  ['http://example.com/proxy?x', '/proxy'],
  ['*', '/'],
  ['', '/'],
  [undefined, ''],
  [{}, ''],
]

test.each(PATHS)('the path %j is folded to %j', (url, path) => {
  expect(foldedPath(url)).toBe(path)
})

test('no route is long, or steers a terminal', () => {
  const long = routeOf(
    request({ method: 'GET', url: '/', route: { path: `/\u001b[31m${'a'.repeat(5000)}` } }),
  )
  expect(long?.length).toBeLessThanOrEqual(105)
  expect(long).toContain('\\u001b')
})

test('the request that another object holds has the route', () => {
  expect(routeOf({ req: request({ method: 'GET', url: '/graphql' }) })).toBe('GET /graphql')
  for (const subject of ['ada', 7, null, undefined, () => 'x']) expect(routeOf(subject)).toBeUndefined()
})
