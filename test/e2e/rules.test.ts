import { byIp, type Decision, memoryStore, rateLimit, tokenBucket } from 'headgate'
import { EXPRESS_5, FRAMEWORKS, type Handler, sayHello } from '../support/frameworks.js'
import { closeServers, send, serve, statuses, times } from '../support/http.js'

afterEach(closeServers)

const once = { limit: 1, window: '1m' } as const
const policy = tokenBucket({ capacity: 1, refill: 1, every: '1m' })

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  test.each(['sync', 'async'])('skip lets a request pass unlimited and uncounted (%s)', async (how) => {
    const wanted = (url?: string) => url === '/health'
    const limiter = rateLimit({
      ...once,
      skip: (req) => (how === 'async' ? Promise.resolve(wanted(req.url)) : wanted(req.url)),
    })
    const served = await serve(app(limiter, sayHello))
    expect(await statuses(served, times(3, { path: '/health' }))).toEqual([200, 200, 200])
    expect((await send(served, { path: '/health' })).headers).not.toHaveProperty('x-ratelimit-limit')
    expect(await statuses(served, times(2))).toEqual([200, 429])
  })

  test('allow lets addresses and ranges pass unlimited and uncounted', async () => {
    const limiter = rateLimit({ ...once, allow: ['127.0.0.8/30', '127.0.0.20', '2001:db8::/32'] })
    const served = await serve(app(limiter, sayHello))
    for (const from of ['127.0.0.8', '127.0.0.11', '127.0.0.20'])
      expect(await statuses(served, times(3, { from }))).toEqual([200, 200, 200])
    expect(await statuses(served, times(2, { from: '127.0.0.12' }))).toEqual([200, 429])
  })

  test('block answers 403, by Accept, before anything is counted, and goes before allow', async () => {
    const limiter = rateLimit({ ...once, block: ['127.0.0.9'], allow: ['127.0.0.0/8'] })
    const served = await serve(app(limiter, sayHello))
    const text = await send(served, { from: '127.0.0.9' })
    expect(text).toMatchObject({ status: 403, text: 'Forbidden.\n' })
    const json = await send(served, { from: '127.0.0.9', headers: { accept: 'application/json' } })
    expect(json.headers['content-type']).toBe('application/problem+json')
    expect(JSON.parse(json.text)).toEqual({ type: 'about:blank', title: 'Forbidden', status: 403 })
    expect(json.headers).not.toHaveProperty('retry-after')
    expect((await send(served, { from: '127.0.0.8' })).status).toBe(200)
  })

  test("mode 'report' decides, counts and emits, but never blocks nor sets a header", async () => {
    const limiter = rateLimit({ ...once, mode: 'report', block: ['127.0.0.9'] })
    const limited: boolean[] = []
    limiter.limiter.events.on('denied', ({ allowed }) => limited.push(allowed))
    const seen: unknown[] = []
    const look: Handler = (req, res) => {
      const { rateLimit } = req as { rateLimit?: Decision }
      seen.push([rateLimit?.allowed, rateLimit?.remaining])
      res.end('hello')
    }
    const served = await serve(app(limiter, look))
    const answers = [await send(served), await send(served), await send(served, { from: '127.0.0.9' })]
    for (const { status, headers } of answers) {
      expect(status).toBe(200)
      expect(Object.keys(headers).filter((name) => /ratelimit|retry|cache/.test(name))).toEqual([])
    }
    expect(seen).toEqual([
      [true, 0],
      [false, 0],
      [true, 0],
    ])
    expect(limited).toEqual([false])
  })

  test('byIp({ trustProxy }) decides what allow, block and the key see', async () => {
    const key = byIp({ trustProxy: ['127.0.0.1'] })
    const limiter = rateLimit({ policy, key, allow: ['192.0.2.7'], block: ['192.0.2.66'] })
    const served = await serve(app(limiter, sayHello))
    const forwarded = (address: string, from = '127.0.0.1') => ({
      from,
      headers: { 'x-forwarded-for': address },
    })
    expect(await statuses(served, times(3, forwarded('192.0.2.7')))).toEqual([200, 200, 200])
    expect(await statuses(served, times(2, forwarded('192.0.2.66')))).toEqual([403, 403])
    expect(await statuses(served, times(2, forwarded('192.0.2.1')))).toEqual([200, 429])
    expect(await statuses(served, times(2, forwarded('192.0.2.7', '127.0.0.5')))).toEqual([200, 429])
  })
})

test("'report' with count: 'failed' refunds what succeeded, as 'enforce' would", async () => {
  const limiter = rateLimit({
    ...once,
    mode: 'report',
    count: 'failed',
    store: memoryStore({ clock: () => 0 }),
  })
  const limited: number[] = []
  limiter.limiter.events.on('denied', ({ remaining }) => limited.push(remaining))
  let status = 200
  const served = await serve(
    EXPRESS_5.app(limiter, (_req, res) => {
      res.statusCode = status
      res.end()
    }),
  )
  await statuses(served, times(3))
  expect(limited).toEqual([])
  status = 401
  await statuses(served, times(2))
  expect(limited).toEqual([0])
})

test('a request that skip let pass is still counted by the same middleware further on', async () => {
  const limiter = rateLimit({ ...once, skip: (req) => !('user' in req) })
  const signIn: Handler = (req, _res, next) => {
    Object.assign(req, { user: { id: 7 } })
    next()
  }
  const served = await serve(EXPRESS_5.app(limiter, signIn, limiter, sayHello))
  expect(await statuses(served, times(2))).toEqual([200, 429])
})
