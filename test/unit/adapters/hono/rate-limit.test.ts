import { byField, byIp, byRoute, type Decision, type KeyFunction } from 'headgate'
import { byUser, loginGuard, type RateLimitOptions, rateLimit } from 'headgate/hono'
import { type Context, Hono } from 'hono'
import { HonoRequest } from 'hono/request'

const ONE_PER_HOUR = { limit: 1, window: '1h' } as const
const node = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } })

/** Sends requests in order, and returns their statuses. */
async function statusesOf(app: Hono, sends: readonly [Request, unknown][]): Promise<number[]> {
  const statuses: number[] = []
  for (const [request, env] of sends) statuses.push((await app.fetch(request, env)).status)
  return statuses
}

function limited(options: Partial<RateLimitOptions> = {}): Hono {
  const app = new Hono()
  app.use(rateLimit({ ...ONE_PER_HOUR, ...options } as RateLimitOptions))
  app.all('/', (c) => c.text('ok'))
  return app
}

describe('the address', () => {
  const withCf = (ip: string) =>
    Object.assign(new Request('http://localhost/', { headers: { 'cf-connecting-ip': ip } }), { cf: {} })
  const plain = () => new Request('http://localhost/')
  const RUNTIMES: readonly [string, (ip: string) => [Request, unknown]][] = [
    ['Node.js', (ip) => [plain(), node(ip)]],
    ['Node.js, as the binding server', (ip) => [plain(), { server: node(ip) }]],
    ['Bun', (ip) => [plain(), { requestIP: () => ({ address: ip }) }]],
    ['Bun, as the binding server', (ip) => [plain(), { server: { requestIP: () => ({ address: ip }) } }]],
    ['Deno', (ip) => [plain(), { remoteAddr: { hostname: ip } }]],
    ['Workers', (ip) => [withCf(ip), {}]],
    ['an API Gateway of REST', (ip) => [plain(), { requestContext: { identity: { sourceIp: ip } } }]],
    ['an API Gateway of HTTP', (ip) => [plain(), { requestContext: { http: { sourceIp: ip } } }]],
    ['Netlify', (ip) => [plain(), { context: { ip } }]],
  ]

  test.each(RUNTIMES)('is what the runtime reports: %s', async (_, sendFrom) => {
    const sends = [sendFrom('192.0.2.1'), sendFrom('192.0.2.2'), sendFrom('192.0.2.1')]
    expect(await statusesOf(limited(), sends)).toEqual([200, 200, 429])
  })

  test('is not in a header that a client sends to another runtime', async () => {
    const send = (ip: string): [Request, unknown] => [
      new Request('http://localhost/', { headers: { 'cf-connecting-ip': ip, 'x-forwarded-for': ip } }),
      node('192.0.2.1'),
    ]
    expect(await statusesOf(limited(), [send('192.0.2.7'), send('192.0.2.8')])).toEqual([200, 429])
  })

  test.each([undefined, null, {}, { incoming: {} }, { incoming: { socket: {} } }, { requestIP: () => null }])(
    'may be unknown: %j',
    async (env) => {
      jest.spyOn(process, 'emitWarning').mockImplementation()
      const sends: [Request, unknown][] = [
        [plain(), env],
        [plain(), env],
      ]
      expect(await statusesOf(limited(), sends)).toEqual([200, 429]) // such requests share a bucket
      jest.restoreAllMocks()
    },
  )
})

test('handlers find the decision, and the response has the headers', async () => {
  const app = new Hono()
  app.use(rateLimit({ limit: 5, window: '1m' }))
  app.get('/', (c) => c.json(c.get('rateLimit')?.remaining))
  const response = await app.request('/', {}, node('192.0.2.1'))
  expect(await response.json()).toBe(4)
  expect(response.headers.get('x-ratelimit-remaining')).toBe('4')
})

test('callbacks are called with the context, and the result of onDenied is the response', async () => {
  type Variables = { Variables: { tenant: string } }
  const app = new Hono<Variables>()
  app.use(async (c, next) => {
    c.set('tenant', c.req.query('tenant') ?? 'none')
    await next()
  })
  app.use(
    rateLimit({
      ...ONE_PER_HOUR,
      key: (c) => c.get('tenant'),
      skip: (c) => c.req.query('free') !== undefined,
      onDenied: (c, { limit }) => c.json({ limit, tenant: c.get('tenant') }, 418 as never),
    }),
  )
  app.get('/', (c) => c.text('ok'))
  const paths = ['/?tenant=a', '/?tenant=b', '/?tenant=a', '/?tenant=a&free']
  const responses: Response[] = []
  for (const path of paths) responses.push(await app.request(path, {}, node('192.0.2.1')))
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 418, 200])
  expect(await responses[2]?.json()).toEqual({ limit: 1, tenant: 'a' })
})

test('onDenied finds the decision in the context, as handlers do', async () => {
  const places: unknown[] = []
  const onDenied = (c: Context, decision: Decision) => {
    places.push(c.get('rateLimit') === decision)
    return c.text('Later')
  }
  const app = new Hono().use(rateLimit({ ...ONE_PER_HOUR, onDenied }))
  await app.request('/')
  await app.request('/')
  expect(places).toEqual([true])
})

test('an option of another package is fixed with a callback of Hono', () => {
  const options = { ...ONE_PER_HOUR, requestWasSuccessful: () => true } as object
  expect(() => rateLimit(options as typeof ONE_PER_HOUR)).toThrow('(c, response) => response.status < 500')
})

test('an error of onDenied leaves no status of a denial for app.onError', async () => {
  const onDenied = () => {
    throw new Error('no template')
  }
  const app = new Hono().use(rateLimit({ ...ONE_PER_HOUR, onDenied }))
  app.get('/', (c) => c.text('ok')).onError(({ message }, c) => c.text(message))
  await app.request('/', {}, node('192.0.2.1'))
  const response = await app.request('/', {}, node('192.0.2.1'))
  expect([response.status, await response.text()]).toEqual([200, 'no template'])
})

describe('key functions', () => {
  test.each([
    ['byUser() of the variable user', 'user', { id: 7 }, byUser()],
    ['byUser() of the variable jwtPayload', 'jwtPayload', { sub: 'ada' }, byUser()],
    ['byUser(get)', 'account', 'ada', byUser((c) => c.get('account' as never))],
  ])('%s', async (_, variable, value, key) => {
    const app = new Hono()
    app.use(async (c, next) => {
      if (c.req.query('anonymous') === undefined) c.set(variable as never, value as never)
      await next()
    })
    app.use(rateLimit({ ...ONE_PER_HOUR, key: key as KeyFunction }))
    app.get('/', (c) => c.text('ok'))
    const send = async (path: string, ip: string) => (await app.request(path, {}, node(ip))).status
    expect(await send('/', '192.0.2.1')).toBe(200)
    expect(await send('/', '192.0.2.2')).toBe(429) // the same user
    expect(await send('/?anonymous', '192.0.2.2')).toBe(200)
  })

  test('the routes that match are read for byRoute alone', async () => {
    const reads = jest.spyOn(HonoRequest.prototype, 'matchedRoutes', 'get')
    await statusesOf(limited(), [[new Request('http://localhost/'), node('192.0.2.1')]])
    expect(reads).not.toHaveBeenCalled()
    await statusesOf(limited({ key: byRoute() }), [[new Request('http://localhost/'), node('192.0.2.1')]])
    expect(reads).toHaveBeenCalledTimes(1)
    jest.restoreAllMocks()
  })

  test('byRoute reads the pattern of the route', async () => {
    const app = new Hono()
    app.use(rateLimit({ ...ONE_PER_HOUR, key: [byIp(), byRoute()] }))
    app.get('/users/:id', (c) => c.text('ok'))
    app.get('/posts/:id', (c) => c.text('ok'))
    app.get('*', (c) => c.text('not found', 404))
    const send = async (path: string) => (await app.request(path, {}, node('192.0.2.1'))).status
    expect([await send('/users/1'), await send('/users/2'), await send('/posts/1')]).toEqual([200, 429, 200])
  })

  test('byField reads a body that a middleware in front has read, and leaves others to the handler', async () => {
    const app = new Hono()
    app.use('/read', async (c, next) => {
      await c.req.json()
      await next()
    })
    app.use(rateLimit({ ...ONE_PER_HOUR, key: byField('name') }))
    app.post('/read', async (c) => c.json(await c.req.json()))
    app.post('/stream', async (c) => c.text(String(c.req.raw.bodyUsed)))
    const send = async (path: string, name: string) => {
      const init = {
        method: 'POST',
        body: JSON.stringify({ name }),
        headers: { 'content-type': 'application/json' },
      }
      return app.request(path, init, node('192.0.2.1'))
    }
    expect(await (await send('/read', 'ada')).json()).toEqual({ name: 'ada' })
    expect((await send('/read', 'ada')).status).toBe(429)
    expect((await send('/read', 'bob')).status).toBe(200)
    expect(await (await send('/stream', 'ada')).text()).toBe('false')
  })
})

describe('loginGuard', () => {
  const guardOptions = { field: 'username', path: '/login', failureRedirect: false } as const
  const json = (body: unknown) => ({ body: JSON.stringify(body), type: 'application/json' })
  const form = (body: Record<string, string>) => ({
    body: new URLSearchParams(body).toString(),
    type: 'application/x-www-form-urlencoded',
  })

  test.each([
    ['JSON', json({ username: 'ada', password: 'wrong' })],
    ['a form', form({ username: 'ada', password: 'wrong' })],
  ])('reads the account from a body of %s, which the handler reads again', async (_, { body, type }) => {
    const guard = loginGuard(guardOptions)
    const app = new Hono()
    app.post('/login', guard, async (c) => {
      const { password } = (type.includes('json') ? await c.req.json() : await c.req.parseBody()) as {
        password: string
      }
      return c.text(password, 401)
    })
    const send = () =>
      app.request('/login', { method: 'POST', body, headers: { 'content-type': type } }, node('192.0.2.1'))
    const first = await send()
    expect([first.status, await first.text()]).toEqual([401, 'wrong'])
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await send()).status)
    expect(statuses.at(-1)).toBe(429)
    expect(statuses[0]).toBe(401)
  })

  test.each([
    ['no JSON', '{', 'application/json'],
    ['an array', '[1]', 'application/json'],
    ['null', 'null', 'application/json'],
    ['an unknown type', 'x', 'application/octet-stream'],
  ])('responds 400 to a body that names no account: %s', async (_, body, type) => {
    jest.spyOn(process, 'emitWarning').mockImplementation()
    const app = new Hono()
    app.post('/login', loginGuard(guardOptions), (c) => c.text('no', 401))
    const send = async () => {
      const init = { method: 'POST', body, headers: { 'content-type': type } }
      return (await app.request('/login', init, node('192.0.2.1'))).status
    }
    expect(await send()).toBe(400)
    jest.restoreAllMocks()
  })
})

test('a limiter that is created in a handler is reported', async () => {
  const warnings = jest.spyOn(process, 'emitWarning').mockImplementation()
  const app = new Hono()
  app.use((c, next) => rateLimit(ONE_PER_HOUR)(c, next))
  app.get('/', (c) => c.text('ok'))
  for (let i = 0; i < 30; i++) await app.request('/', {}, node('192.0.2.1'))
  expect(JSON.stringify(warnings.mock.calls)).toContain('HEADGATE_CREATED_IN_HANDLER')
  jest.restoreAllMocks()
})

test('what a callback throws goes to app.onError', async () => {
  const app = new Hono().onError((error, c) => c.text(error.message, 500))
  app.use(
    rateLimit({
      ...ONE_PER_HOUR,
      key: () => {
        throw new Error('no key')
      },
    }),
  )
  app.get('/', (c) => c.text('ok'))
  expect(await (await app.request('/')).text()).toBe('no key')
})

test('the middleware of another framework names the right entry point', async () => {
  const limit = rateLimit(ONE_PER_HOUR) as unknown as (...args: unknown[]) => Promise<unknown>
  const req = { headers: {}, method: 'GET', socket: {} }
  await expect(limit(req, {}, () => undefined)).rejects.toThrow("'headgate' is for Express")
})

test.each([undefined, null, 1, { limit: 1 }, { ...ONE_PER_HOUR, ip: () => '1.2.3.4' }])(
  'wrong options are errors: %j',
  (options) => {
    expect(() => rateLimit(options as never)).toThrow(/^rateLimit: /)
    expect(() => loginGuard(options as never)).toThrow(/^loginGuard: /)
  },
)
