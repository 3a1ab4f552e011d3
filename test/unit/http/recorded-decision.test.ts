import { IncomingMessage } from 'node:http'
import express, { type Request, type RequestHandler } from 'express'
import express4 from 'express4'
import { type Decision, memoryStore, rateLimit } from 'headgate'
import { NODE_HTTP } from '../../support/frameworks.js'
import { closeServers, send, serve } from '../../support/http.js'

afterEach(closeServers)

/** Middleware that limits requests and takes one unit, under a name. */
function limiter(name: string, limit = 5): RequestHandler {
  return rateLimit({ limit, window: '1h', name, store: memoryStore({ clock: () => 0 }) })
}

/** A handler that responds with what it reads from the request. */
function showing(read: (req: Request) => unknown): RequestHandler {
  return (req, res) => {
    res.json(read(req) ?? null)
  }
}

const limitNameOf = (req: { rateLimit?: Decision }) => req.rateLimit?.limitName
const setTo =
  (value: unknown): RequestHandler =>
  (req, _res, next) => {
    Object.assign(req, { rateLimit: value })
    next()
  }

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('on %s', (_name, make) => {
  async function read(...handlers: RequestHandler[]): Promise<unknown> {
    const app = make()
    app.use('/', ...handlers)
    return JSON.parse((await send(await serve(app))).text)
  }

  test('req.rateLimit is undefined before the first limiter, also once other requests have passed one', async () => {
    await read(limiter('a'), showing(limitNameOf))
    expect(
      await read(showing((req) => [limitNameOf(req) ?? 'none', Object.keys(req).includes('rateLimit')])),
    ).toEqual(['none', false])
  })

  test('req.rateLimit is the decision of the last limiter, as plain data', async () => {
    expect(
      await read(
        limiter('a'),
        limiter('b', 9),
        showing((req) => req.rateLimit),
      ),
    ).toMatchObject({
      limitName: 'b',
      limit: 9,
      remaining: 8,
      source: 'store',
    })
  })

  test('two requests have a decision each', async () => {
    const app = make()
    app.use(
      limiter('a'),
      showing((req) => req.rateLimit?.remaining),
    )
    const served = await serve(app)
    expect([(await send(served)).text, (await send(served)).text]).toEqual(['4', '3'])
  })

  test.each([
    ['to a mounted application', (sub: RequestHandler) => [limiter('a'), sub]],
    ['from a mounted application', (sub: RequestHandler) => [sub]],
  ])('the decision comes along %s', async (_where, handlersWith) => {
    const seen: unknown[] = []
    const sub = make()
    sub.use((req, _res, next) => {
      seen.push(limitNameOf(req))
      next()
    }, limiter('b'))
    expect(await read(...handlersWith(sub), showing(limitNameOf))).toBe('b')
    expect(seen).toEqual([handlersWith(sub).length === 2 ? 'a' : undefined])
  })

  test('what other middleware sets is there until the next limiter', async () => {
    expect(await read(limiter('a'), setTo({ limitName: 'other' }), showing(limitNameOf))).toBe('other')
    expect(await read(setTo({ limitName: 'other' }), limiter('a'), showing(limitNameOf))).toBe('a')
  })

  test('a limiter that is mounted twice on a path charges once, with others in between', async () => {
    const [a, b] = [limiter('a'), limiter('b')]
    expect(
      await read(
        a,
        b,
        a,
        b,
        showing((req) => [limitNameOf(req), req.rateLimit?.remaining]),
      ),
    ).toEqual(['b', 4])
    expect(
      await read(
        a,
        showing((req) => req.rateLimit?.remaining),
      ),
    ).toBe(3)
  })

  test('a property rateLimit of the application’s own requests stays a property', async () => {
    const app = make()
    Object.defineProperty(app.request, 'rateLimit', { value: undefined, writable: true, configurable: true })
    app.use(
      limiter('a'),
      showing((req) => [limitNameOf(req), Object.hasOwn(req, 'rateLimit')]),
    )
    expect(JSON.parse((await send(await serve(app))).text)).toEqual(['a', true])
  })
})

test('without Express the decision is a property of the request, and no prototype of Node.js has one', async () => {
  const guard = limiter('a') as never
  const show = (req: object, res: { end(text: string): void }) =>
    res.end(String(Object.hasOwn(req, 'rateLimit')))
  expect((await send(await serve(NODE_HTTP.app(guard, show as never)))).text).toBe('true')
  expect('rateLimit' in IncomingMessage.prototype).toBe(false)
})
