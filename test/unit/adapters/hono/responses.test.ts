import { concurrency } from 'headgate'
import { loginGuard, rateLimit } from 'headgate/hono'
import { type Context, Hono } from 'hono'
import { setCookie } from 'hono/cookie'

const env = { incoming: { socket: { remoteAddress: '192.0.2.1' } } }
const FORM = 'application/x-www-form-urlencoded'

/** Sends bodies to a login, one after the other, and returns the statuses. */
async function statusesOf(app: Hono, type: string, bodies: readonly string[]): Promise<number[]> {
  const statuses: number[] = []
  for (const [i, body] of bodies.entries()) {
    const from = { incoming: { socket: { remoteAddress: `203.0.113.${i}` } } }
    const init = { method: 'POST', body, headers: { 'content-type': type } }
    statuses.push((await app.request('/login', init, from)).status)
  }
  return statuses
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

describe('a login whose guard and handler could read different names', () => {
  beforeEach(() => void jest.spyOn(process, 'emitWarning').mockImplementation())
  afterEach(() => jest.restoreAllMocks())

  function login(read: (c: Context) => Promise<unknown>): Hono {
    const app = new Hono()
    app.post('/login', loginGuard({ field: 'username', path: '/login' }), async (c) => {
      await read(c)
      return c.text('no', 401)
    })
    return app
  }

  test('gets a 400 for JSON that is sent as a form', async () => {
    const app = login((c) => c.req.json())
    const bodies = upTo(3).map((i) => `{"username":"ada","x":"&username=decoy${i}&"}`)
    expect(await statusesOf(app, FORM, bodies)).toEqual([400, 400, 400])
  })

  test('gets a 400 for a field that is repeated', async () => {
    const app = login(async (c) => (await c.req.formData()).get('username'))
    const bodies = upTo(3).map((i) => `username=ada&username=decoy${i}`)
    expect(await statusesOf(app, FORM, bodies)).toEqual([400, 400, 400])
    const multipart = upTo(2).map((i) =>
      ['ada', `decoy${i}`, '']
        .map((name) =>
          name ? `--x\r\nContent-Disposition: form-data; name="username"\r\n\r\n${name}\r\n` : '--x--',
        )
        .join(''),
    )
    expect(await statusesOf(app, 'multipart/form-data; boundary=x', multipart)).toEqual([400, 400])
  })

  test.each<[string, (c: Context) => Promise<unknown>]>([
    ['parseBody', (c) => c.req.parseBody()],
    ['formData', async (c) => Object.fromEntries(await c.req.formData())],
    ['text', async (c) => Object.fromEntries(new URLSearchParams(await c.req.text()))],
  ])('lets the handler read a form again by %s', async (_, read) => {
    const seen: unknown[] = []
    const app = login(async (c) => seen.push(await read(c)))
    expect(await statusesOf(app, FORM, ['username=ada&password=x'])).toEqual([401])
    expect({ ...(seen[0] as object) }).toEqual({ username: 'ada', password: 'x' })
  })
})

test('cookies of the handler and of the guard are both sent', async () => {
  const deviceCookie = { secret: 'a secret of more than thirty-two characters' }
  const app = new Hono()
  app.post('/login', loginGuard({ name: 'login', field: 'username', path: '/login', deviceCookie }), (c) => {
    setCookie(c, 'session', 's1')
    return c.text('welcome')
  })
  const init = { method: 'POST', body: 'username=ada', headers: { 'content-type': FORM } }
  const response = await app.request('/login', init, env)
  const cookies = response.headers.getSetCookie()
  expect(cookies).toHaveLength(2)
  expect(cookies.join()).toContain('session=s1')
})

test.each([['a string'], [{ status: 401 }], [new Response('no')]])(
  'a handler that throws %p releases its units',
  async (thrown) => {
    const app = new Hono()
    app.use(rateLimit({ policy: concurrency({ limit: 1 }), key: () => 'all' }))
    app.get('/', () => {
      throw thrown
    })
    app.get('/ok', (c) => c.text('ok'))
    for (let i = 0; i < 3; i++) await expect(async () => app.request('/', {}, env)).rejects.toBe(thrown)
    expect((await app.request('/ok', {}, env)).status).toBe(200)
  },
)

test('a response that the application shares gets the headers of each request', async () => {
  const shared = new Response(null, { status: 204 })
  const app = new Hono()
  app.use(rateLimit({ limit: 10, window: '1m' }))
  app.get('/', () => shared)
  const left: (string | null)[] = []
  for (let i = 0; i < 3; i++)
    left.push((await app.request('/', {}, env)).headers.get('x-ratelimit-remaining'))
  expect(left).toEqual(['9', '8', '7'])
})

test('a response of another class, such as that of undici, passes with the headers', async () => {
  class Foreign {
    readonly status = 201
    readonly headers = new Headers({ 'x-upstream': 'yes' })
    readonly body = new Response('upstream').body
  }
  const app = new Hono()
  app.use(rateLimit({ limit: 10, window: '1m' }))
  app.get('/', () => new Foreign() as unknown as Response)
  const response = await app.request('/', {}, env)
  expect([response.status, await response.text()]).toEqual([201, 'upstream'])
  expect(response.headers.get('x-ratelimit-remaining')).toBe('9')
})

test('a denial has the headers that were set before', async () => {
  const app = new Hono()
  app.use(async (c, next) => {
    c.header('x-request-id', '7')
    await next()
  })
  app.use(rateLimit({ limit: 1, window: '1h' }))
  app.get('/', (c) => c.text('ok'))
  for (const status of [200, 429]) {
    const response = await app.request('/', {}, env)
    expect(response.status).toBe(status)
    expect(response.headers.get('x-request-id')).toBe('7')
  }
})

test('a limiter that skips leaves the decision of the one before it', async () => {
  const app = new Hono()
  app.use(rateLimit({ limit: 5, window: '1m' }), rateLimit({ limit: 9, window: '1m', skip: () => true }))
  app.get('/', (c) => c.json(c.get('rateLimit')?.limit))
  expect(await (await app.request('/', {}, env)).json()).toBe(5)
})

test('outer middleware may replace a denial with a response of another length', async () => {
  const app = new Hono()
  app.use(async (c, next) => {
    await next()
    if (c.res.status === 429) c.res = new Response('Slow down', { status: 503 })
  })
  app.use(rateLimit({ limit: 1, window: '1h' }))
  app.get('/', (c) => c.text('ok'))
  await app.request('/', {}, env)
  const response = await app.request('/', {}, env)
  expect([response.status, await response.text()]).toEqual([503, 'Slow down'])
  expect(response.headers.get('content-length')).toBeNull() // the server counts the bytes it sends
})
