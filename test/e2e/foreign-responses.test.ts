import { Response as PonyResponse } from '@whatwg-node/fetch'
import { createSchema, createYoga } from 'graphql-yoga'
import { concurrency, loginGuard, memoryStore, rateLimit } from 'headgate/fetch'
import { Response as UndiciResponse } from 'undici'
import { closeServers, send, serve, times } from '../support/http.js'

afterEach(closeServers)

type Make = (body: string | ReadableStream | null, init?: ResponseInit) => Response

const CLASSES: readonly (readonly [string, Make])[] = [
  ['Node.js', (body, init) => new Response(body, init)],
  ['undici', (body, init) => new UndiciResponse(body as never, init as never) as never],
  ['@whatwg-node/fetch', (body, init) => new PonyResponse(body, init)],
]

const info = { ip: '203.0.113.7' }
const requestOf = (init?: RequestInit) => new Request('http://localhost/login', init)
/** Makes them anew, because @whatwg-node/fetch writes into the list. */
const cookies = (): HeadersInit => [
  ['Set-Cookie', 'a=1'],
  ['Set-Cookie', 'b=2'],
  ['X-Kept', 'yes'],
]

function streamOf(...chunks: string[]): ReadableStream {
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift()
      if (chunk === undefined) controller.close()
      else controller.enqueue(new TextEncoder().encode(chunk))
    },
  })
}

const partsOf = async (response: Response) => [
  response.status,
  await response.text(),
  response.headers.getSetCookie().slice(0, 2),
  response.headers.get('x-kept'),
]

describe.each(CLASSES)('a Response of %s', (_class, make) => {
  test.each<[string, () => string | ReadableStream]>([
    ['a string', () => 'hello'],
    ['a stream', () => streamOf('hel', 'lo')],
  ])('with %s releases a unit once it has been read', async (_what, body) => {
    const limit = rateLimit({ policy: concurrency({ limit: 1 }) })
    const respond = () =>
      limit.handle(requestOf(), info, () => make(body(), { status: 201, headers: cookies() }))
    const first = await respond()
    expect((await respond()).status).toBe(429)
    expect(await partsOf(first)).toEqual([201, 'hello', ['a=1', 'b=2'], 'yes'])
    expect(await partsOf(await respond())).toEqual([201, 'hello', ['a=1', 'b=2'], 'yes'])
  })

  test('releases a unit if it is cancelled, or has no body', async () => {
    const limit = rateLimit({ policy: concurrency({ limit: 1 }) })
    const respond = (body: string | null) =>
      limit.handle(requestOf(), info, () => make(body, { status: body === null ? 204 : 200 }))
    await (await respond('hello')).body?.cancel()
    expect((await respond(null)).status).toBe(204)
    expect((await respond('hello')).status).toBe(200)
  })

  test('gets the cookie of a device besides its own', async () => {
    const guard = loginGuard({
      name: 'login',
      account: () => 'ada',
      path: '/login',
      deviceCookie: { secret: 'a secret of 32 characters or more' },
      store: memoryStore(),
    })
    const response = await guard.handle(requestOf({ method: 'POST' }), info, () =>
      make('hello', { headers: cookies() }),
    )
    expect(response.headers.getSetCookie()).toHaveLength(3)
    expect(await partsOf(response)).toEqual([200, 'hello', ['a=1', 'b=2'], 'yes'])
  })

  test('may be returned to several requests, each with its own figures', async () => {
    const limit = rateLimit({ limit: 3, window: '1h' })
    const shared = make(null, { headers: cookies() })
    const remaining: unknown[] = []
    for (let i = 0; i < 3; i++) {
      const response = await limit.handle(requestOf(), info, () => shared)
      remaining.push(response.headers.get('x-ratelimit-remaining'))
      expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    }
    expect(remaining).toEqual(['2', '1', '0'])
  })

  test('with immutable headers is copied', async () => {
    const limit = rateLimit({ limit: 3, window: '1h' })
    const immutable = make('hello', { headers: cookies() })
    jest.spyOn(immutable.headers, 'set').mockImplementation(() => {
      throw new TypeError('immutable')
    })
    const response = await limit.handle(requestOf(), info, () => immutable)
    expect(response.headers.get('x-ratelimit-remaining')).toBe('2')
    expect(await partsOf(response)).toEqual([200, 'hello', ['a=1', 'b=2'], 'yes'])
  })
})

test('a redirect of undici, whose headers are immutable, gets the quota headers', async () => {
  const limit = rateLimit({ limit: 3, window: '1h' })
  const respond = () => UndiciResponse.redirect('http://localhost/other') as never
  const { status, headers } = await limit.handle(requestOf(), info, respond)
  expect([status, headers.get('location'), headers.get('x-ratelimit-remaining')]).toEqual([
    302,
    'http://localhost/other',
    '2',
  ])
})

test.each<[string, object, number[]]>([
  ['a limit', { limit: 2, window: '1h' }, [200, 200, 429]],
  ['concurrency', { policy: concurrency({ limit: 1 }) }, [200, 200, 200]],
  ['a count of failures', { limit: 2, window: '1h', count: 'failed' }, [200, 200, 200]],
])('GraphQL Yoga responds over HTTP behind %s', async (_what, options, expected) => {
  const limit = rateLimit(options as never)
  const schema = createSchema({
    typeDefs: 'type Query { hello: String }',
    resolvers: { Query: { hello: () => 'world' } },
  })
  const yoga = createYoga({ schema, logging: false })
  const { createServerAdapter } = await import('@whatwg-node/server')
  const adapter = createServerAdapter((request: Request) =>
    limit.handle(request, info, () => yoga.fetch(request) as Promise<Response>),
  )
  const target = await serve(adapter as never)
  const path = `/graphql?query=${encodeURIComponent('{ hello }')}`
  const seen: number[] = []
  for (const sent of times(3, { path, headers: { accept: 'application/json' } })) {
    const { status, text } = await send(target, sent)
    seen.push(status)
    if (status === 200) expect(JSON.parse(text)).toEqual({ data: { hello: 'world' } })
  }
  expect(seen).toEqual(expected)
})
