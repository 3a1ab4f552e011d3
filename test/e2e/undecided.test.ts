import { serve as serveFetch } from '@hono/node-server'
import {
  ban,
  candidateLimits,
  createLimiter,
  type Decision,
  leased,
  memoryStore,
  rateLimit,
  requestDelay,
  type Store,
  slidingLog,
} from 'headgate'
import { rateLimit as honoLimit } from 'headgate/hono'
import { rateLimit as koaLimit } from 'headgate/koa'
import { customStore } from 'headgate/store'
import { Hono } from 'hono'
import Koa from 'koa'
import { EXPRESS_5, FRAMEWORKS, type Handler } from '../support/frameworks.js'
import { gate, sendAndHangUp } from '../support/hang-up.js'
import { type Answer, closeServers, closeWithServers, send, serve } from '../support/http.js'
import { HTTP1 } from '../support/protocols.js'
import { until } from '../support/servers/wait.js'

afterEach(closeServers)

type Count = NonNullable<Parameters<typeof rateLimit>[0]['count']>

/** Two in any half hour, and a ban after one denial that counts. */
const twoOrBan = ban(slidingLog({ limit: 2, window: '30m' }), { after: 1, within: '1h', for: '1h' })
const options = (count: Count) => ({ policy: twoOrBan, count: count as 'failed' })

/** Handlers that wait until the test lets them respond with the status in the path. */
function heldHandlers() {
  const { handler, open } = gate()
  const respond: Handler = (req, res) => {
    res.statusCode = Number(req.url?.slice(1))
    res.end()
  }
  return { handlers: [handler, respond], open }
}

const get = (served: { port: number }, status: number) => send(served, { path: `/${status}` })
const retryAfter = ({ status, headers }: Answer) => [status, headers['retry-after']]

/** Sends three requests at once, of which two hold all units. Returns the response to the third. */
async function denialAmongThree(served: { port: number }, status: number, open: () => number) {
  const sent = [1, 2, 3].map(() => get(served, status))
  const denial = await Promise.race(sent)
  await untilOpened(2, open)
  await Promise.all(sent)
  return denial
}

/** Lets so many held requests respond, once they are there. */
async function untilOpened(count: number, open: () => number): Promise<void> {
  let opened = 0
  await until(`${count} requests respond`, () => {
    opened += open()
    return opened === count
  })
}

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  test.each<[string, Count, number, number]>([
    ['failed', 'failed', 200, 401],
    ['successful', 'successful', 401, 200],
    ['a function', async (_req: unknown, res: { statusCode: number }) => res.statusCode === 401, 200, 401],
  ])('count: %s does not count denials by requests without a response', async (_, count, free, counted) => {
    const { handlers, open } = heldHandlers()
    const served = await serve(app(rateLimit(options(count)), ...handlers))
    expect(retryAfter(await denialAmongThree(served, free, open))).toEqual([429, '1'])
    const twoMore = [get(served, counted), get(served, counted)]
    await untilOpened(2, open)
    expect((await Promise.all(twoMore)).map(({ status }) => status)).toEqual([counted, counted])
    expect(retryAfter(await get(served, free))).toEqual([429, '3600']) // the ban of the first denial that counts
  })
})

const { app } = EXPRESS_5

test('a client that hangs up is decided: its denials count', async () => {
  const { handlers } = heldHandlers()
  const endpoint = await HTTP1.serve(app(rateLimit(options('failed')), ...handlers))
  await sendAndHangUp(endpoint, { path: '/200' })
  await sendAndHangUp(endpoint, { path: '/200' })
  const { headers } = await endpoint.send({ path: '/200' })
  expect(headers['retry-after']).toBe('3600')
})

test('a charge of your own is decided at once', async () => {
  const { limiter } = rateLimit(options('failed'))
  const subject = { ip: '192.0.2.1' } as never
  await limiter.charge(subject, { cost: 2 })
  expect(await limiter.charge(subject)).toMatchObject({ allowed: false, retryAfterMs: 3_600_000 })
})

test('while the store is down, the fallback store knows the undecided requests', async () => {
  const store: Store = customStore({
    name: 'down',
    apply: () => Promise.reject(new Error('connection lost')),
  })
  const { handlers, open } = heldHandlers()
  const limit = rateLimit({ ...options('failed'), store, onStoreError: 'local' })
  const served = await serve(app(limit, ...handlers))
  expect(retryAfter(await denialAmongThree(served, 200, open))).toEqual([429, '1'])
})

test('in report mode, the reported denial names the same time, and no ban begins', async () => {
  const { handlers, open } = heldHandlers()
  const limit = rateLimit({ ...options('failed'), mode: 'report' })
  const denied: Decision[] = []
  limit.limiter.events.on('denied', (decision) => denied.push(decision))
  const served = await serve(app(limit, ...handlers))
  const held = [1, 2, 3].map(() => get(served, 200))
  await until('one is denied', () => denied.length === 1)
  await untilOpened(3, open)
  await Promise.all(held)
  expect(denied).toMatchObject([{ allowed: false, retryAfterMs: 1000 }])
})

test('a candidate with bans counts all denials except those caused by requests without a response', async () => {
  const { handlers, open } = heldHandlers()
  const limit = rateLimit({
    limit: 100,
    window: '1h',
    count: 'failed',
    candidate: candidateLimits({ policy: twoOrBan }),
  })
  const denials: Decision[] = []
  let charged = 0
  limit.limiter.events.on('candidate', (candidate) => {
    charged++
    if (!candidate.allowed) denials.push(candidate)
  })
  const served = await serve(app(limit, ...handlers))
  const atOnce = [1, 2, 3].map(() => get(served, 200))
  await until('all three are charged before one has its response', () => charged === 3)
  await untilOpened(3, open)
  await Promise.all(atOnce)
  expect(denials).toMatchObject([{ retryAfterMs: 1000 }])
  const failing = [get(served, 401), get(served, 401)]
  await untilOpened(2, open)
  await Promise.all(failing)
  const last = get(served, 200)
  await untilOpened(1, open)
  expect((await last).status).toBe(200)
  expect(denials.at(-1)).toMatchObject({ retryAfterMs: 3_600_000 })
})

describe('with a delay', () => {
  const delayed = { ...options('failed'), delay: requestDelay({ after: 0, by: '1ms' }) } as const

  test('the third of three simultaneous requests is denied for a second', async () => {
    const { handlers, open } = heldHandlers()
    const served = await serve(app(rateLimit(delayed), ...handlers))
    expect(retryAfter(await denialAmongThree(served, 200, open))).toEqual([429, '1'])
  })

  test('requests whose client hangs up during a delay are decided, and their denials count', async () => {
    const limit = rateLimit({ ...delayed, delay: requestDelay({ after: 0, by: '10s' }) })
    const endpoint = await HTTP1.serve(app(limit, (_req, res) => res.end()))
    await sendAndHangUp(endpoint, { path: '/200' })
    await sendAndHangUp(endpoint, { path: '/200' })
    const { headers } = await endpoint.send({ path: '/200' })
    expect(headers['retry-after']).toBe('3600')
  })
})

test('Koa: the third of three simultaneous requests is told to retry in a second', async () => {
  const { handler, open } = gate()
  const koa = new Koa()
  koa.use(koaLimit(options('failed')))
  koa.use(async (ctx) => {
    await new Promise<void>((resolve) => handler(ctx.req, ctx.res, () => resolve()))
    ctx.status = Number(ctx.path.slice(1))
  })
  const denial = await denialAmongThree(await serve(koa.callback()), 200, open)
  expect(retryAfter(denial)).toEqual([429, '1'])
  expect(denial.text).toBe('Too many requests. Try again in 1 second.\n')
})

test('Hono: the third of three simultaneous requests is denied for a second', async () => {
  const { handler, open } = gate()
  const hono = new Hono()
  hono.use(honoLimit({ ...options('failed'), key: () => 'ada' }))
  hono.get('/:status', async (c) => {
    await new Promise<void>((resolve) => handler({} as never, {} as never, () => resolve()))
    return c.body('', Number(c.req.param('status')) as 200)
  })
  const server = serveFetch({ fetch: hono.fetch, port: 0, hostname: '127.0.0.1' })
  await until('it listens', () => server.address())
  closeWithServers(async () => void server.close())
  const served = { port: (server.address() as { port: number }).port }
  expect(retryAfter(await denialAmongThree(served, 200, open))).toEqual([429, '1'])
})

test('requests with count use leased units', async () => {
  const { apply } = memoryStore()
  const store = leased(customStore({ name: 'shared', apply }), { processes: 1, hold: '10s' })
  const sources: unknown[] = []
  const served = await serve(
    app(rateLimit({ limit: 1000, window: '1h', count: 'failed', store }), (req, res) => {
      sources.push((req as { rateLimit?: Decision }).rateLimit?.source)
      res.end()
    }),
  )
  for (let i = 0; i < 20; i++) await get(served, 200)
  expect(new Set(sources)).toEqual(new Set(['store', 'lease']))
  await store.close?.()
})

test('a limiter without count has no marks', async () => {
  const store = memoryStore()
  await createLimiter({ policy: twoOrBan, store, key: () => 'ada' }).charge({})
  const served = await serve(
    app(rateLimit({ policy: twoOrBan, store, name: 'api' }), (_req, res) => res.end()),
  )
  await get(served, 200)
  expect(store.size).toBe(2)
})
