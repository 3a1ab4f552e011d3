import { RouteClasses } from '../../../src/overload/route-class.js'

const ofPath = (url: string, method = 'GET') => ({ method, url, headers: {} })

/** Returns the class of a request with this status. */
function classOf(classes: RouteClasses, req: object, status = 200): string {
  const { served, failed } = classes.of(req, status)
  return status < 400 ? served : failed
}

/** Returns the classes of requests for these paths that got a 200. */
const classesOf = (classes: RouteClasses, paths: readonly string[]) =>
  paths.map((path) => classOf(classes, ofPath(path)))

const invented = (count: number, name = 'x') => Array.from({ length: count }, (_, i) => `/${name}${i}`)

test.each<[string, object, string]>([
  ['node:http', ofPath('/users/7?a=/b'), 'GET /users'],
  ['the root', ofPath('/'), 'GET /'],
  ['a query at the root', ofPath('/?a=b'), 'GET /'],
  ['a parameter of the path', ofPath('/users;a=b'), 'GET /users'],
  ['another method', ofPath('/users', 'POST'), 'POST /users'],
  ['OPTIONS *', ofPath('*', 'OPTIONS'), 'OPTIONS'],
  ['a proxy request', ofPath('http://localhost/users'), 'GET'],
  ['a long segment', ofPath(`/${'a'.repeat(64)}`), 'GET'],
  ['no URL', { method: 'GET', headers: {} }, 'GET'],
  ['no method', { url: '/users', headers: {} }, ' /users'],
  ['Connect below a mount path', { ...ofPath('/7'), originalUrl: '/users/7' }, 'GET /users'],
  [
    'Express',
    { ...ofPath('/7'), originalUrl: '/users/7', baseUrl: '/users', route: { path: '/:id' } },
    'GET /users/:id',
  ],
  [
    'Express without a route',
    { ...ofPath('/users/7'), originalUrl: '/users/7', baseUrl: '/users' },
    'GET /users',
  ],
  [
    'a regular expression',
    { ...ofPath('/users/7'), originalUrl: '/users/7', route: { path: /./ } },
    'GET /users',
  ],
  [
    'Fastify',
    { ...ofPath('/users/7'), originalUrl: '/users/7', routeOptions: { url: '/users/:id' } },
    'GET /users/:id',
  ],
  ['Fetch', { ...ofPath('/users/7'), baseUrl: '/users/:id', route: '/users/:id' }, 'GET /users/:id'],
  ...['*', '/*', '/*path', '/{*path}', '{/*path}', '(.*)', '/(.*)'].map((path): [string, object, string] => [
    `catch-all ${path}`,
    { ...ofPath('/a/b'), route: { path } },
    'GET /a',
  ]),
])('the class of a request: %s', (_name, req, expected) => {
  expect(classOf(new RouteClasses(), req)).toBe(expected)
})

test('requests that fail have other classes than those that are served, and invent none', () => {
  const classes = new RouteClasses()
  const failed = classOf(classes, ofPath('/a'), 404)
  const served = classOf(classes, ofPath('/a'), 200)
  expect([failed, served, classOf(classes, ofPath('/a'), 500)]).toEqual([
    'GET failed',
    'GET /a',
    'GET failed /a',
  ])
})

test('invented segments displace no known class, and share one', () => {
  const classes = new RouteClasses()
  const paths = ['/', '/report', '/users/7']
  const before = classesOf(classes, paths)
  const names = new Set(classesOf(classes, invented(100_000)))
  expect(names.size).toBe(18) // 20 with the first ones, without /report, /users and /, and with the shared class
  expect(names).toContain('GET')
  expect(classesOf(classes, paths)).toEqual(before)
  expect(before).toEqual(['GET /', 'GET /report', 'GET /users'])
})

test('a segment that many requests have gets a class during a flood of others', () => {
  const classes = new RouteClasses()
  classesOf(classes, invented(1000, 'y'))
  const seen = invented(20).map((path) => classesOf(classes, [path, '/report']).at(-1))
  expect(seen).toEqual([
    ...Array.from({ length: 9 }, () => 'GET'),
    ...Array.from({ length: 11 }, () => 'GET /report'),
  ])
})

test('there are at most 100 classes, also if clients repeat what they invent, by all methods', () => {
  const classes = new RouteClasses()
  const names = new Set<string>()
  for (let round = 0; round < 20; round++)
    for (const path of invented(200))
      for (const [method, status] of [
        ['GET', 200],
        ['POST', 200],
        ['GET', 500],
        ['POST', 500],
      ] as const)
        names.add(classOf(classes, ofPath(path, method), status))
  expect(names.size).toBe(2 * 40 + 4)
})
