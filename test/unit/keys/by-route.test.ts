import { byRoute } from 'headgate'

const key = byRoute()

test.each<[string, object, string]>([
  ['a route', { method: 'GET', baseUrl: '', route: { path: '/users/:id' } }, 'GET /users/:id'],
  [
    'a route in a router',
    { method: 'PUT', baseUrl: '/api', route: { path: '/users/:id' } },
    'PUT /api/users/:id',
  ],
  ['a route of Fastify', { method: 'GET', routeOptions: { url: '/v1/users/:id' } }, 'GET /v1/users/:id'],
  ['a route of Fastify 4.0', { method: 'GET', routerPath: '/v1/users/:id' }, 'GET /v1/users/:id'],
  ['no route of Fastify', { method: 'GET', routeOptions: { url: undefined } }, 'GET '],
  ['no route yet', { method: 'GET', baseUrl: '/api' }, 'GET /api'],
  ['nothing but a method', { method: 'DELETE' }, 'DELETE '],
  ['a route that is a pattern', { method: 'GET', baseUrl: '', route: { path: /^\/a/ } }, 'GET /^\\/a/'],
  ['a route of several paths', { method: 'GET', route: { path: ['/a', '/b'] } }, 'GET /a,/b'],
  ['a route without a path', { method: 'GET', route: {} }, 'GET '],
  ['a route that is no object', { method: 'GET', route: '/a' }, 'GET '],
  ['a mount path that is no text', { method: 'GET', baseUrl: 7 }, 'GET '],
])('with %s, the key is the method and the pattern', (_what, request, identity) => {
  expect(key(request)).toBe(identity)
})

test('the key does not depend on the raw path', () => {
  const route = { path: '/users/:id' }
  const paths = ['/users/1', '/users/2', '/USERS/3?x=1'].map((url) =>
    key({ method: 'GET', route, url, path: url }),
  )
  expect(new Set(paths)).toEqual(new Set(['GET /users/:id']))
})

test('HEAD counts as GET, and other methods by themselves', () => {
  const route = { path: '/a' }
  const keys = ['GET', 'HEAD', 'POST', 'OPTIONS'].map((method) => key({ method, route }))
  expect(keys).toEqual(['GET /a', 'GET /a', 'POST /a', 'OPTIONS /a'])
})

test('methods that a client invents share one bucket', () => {
  const methods = ['BREW', 'get', 'patch', 'PROPFIND', 'A'.repeat(1000), '']
  const keys = methods.map((method) => key({ method, route: { path: '/a' } }))
  expect(keys).toEqual(methods.map(() => '* /a'))
})

test('the key does not depend on the case of a mount path, as routing in Express does not', () => {
  expect(key({ method: 'GET', baseUrl: '/API' })).toBe(key({ method: 'GET', baseUrl: '/api' }))
})

test.each([
  ['/orgs/%61cme', '/orgs/acme', true],
  ['/orgs/%41CME', '/orgs/acme', true],
  ['/orgs/%C3%89', '/orgs/%c3%a9', true],
  ['/orgs/a%40b', '/orgs/a@b', true],
  ['/orgs/a%2Fb', '/orgs/a%2fb', true],
  ['/orgs/a%2Fb', '/orgs/a/b', false],
  ['/orgs/%', '/orgs/%zz', false],
  ['/orgs/%2561', '/orgs/%61', false],
])('a mount path %s counts as %s: %s, as its parameters do in Express', (one, other, isSame) => {
  const [first, second] = [one, other].map((baseUrl) => key({ method: 'GET', baseUrl }))
  expect(first === second).toBe(isSame)
})
