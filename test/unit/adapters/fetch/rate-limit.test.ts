import {
  adjustments,
  byField,
  byIp,
  byRoute,
  byUser,
  concurrency,
  type FetchInfo,
  type FetchSubject,
  fixedWindow,
  memoryStore,
  type RateLimitOptions,
  rateLimit,
} from 'headgate/fetch'
import { refundStore } from '../../../support/store-calls.js'
import { storeOf } from '../../../support/store-of.js'
import { recordWarnings } from '../../../support/warnings.js'

const warnings = recordWarnings()

const ADA = { ip: '192.0.2.1' }
const BOB = { ip: '192.0.2.2' }

/** A limiter of two requests a minute, by a clock that stands still. */
function limiterOf<Info extends FetchInfo = FetchInfo>(options: Partial<RateLimitOptions<Info>> = {}) {
  const store = memoryStore({ clock: () => 0 })
  return rateLimit<Info>({ limit: 2, window: '1m', resetFormat: 'delta-seconds', store, ...options })
}

const request = (headers: Record<string, string> = {}, init: RequestInit = {}) =>
  new Request('http://localhost/a', { headers, ...init })

const hello = () => new Response('hello')
const quotaOf = ({ headers }: Response) => headers.get('x-ratelimit-remaining')

async function statusesOf(limit: ReturnType<typeof limiterOf>, ...infos: FetchInfo[]): Promise<number[]> {
  const statuses: number[] = []
  for (const info of infos) statuses.push((await limit.handle(request(), info, hello)).status)
  return statuses
}

describe('a limiter', () => {
  test('resolves to undefined where the request may go on, and to a response where it may not', async () => {
    const limit = limiterOf()
    expect([await limit(request(), ADA), await limit(request(), ADA)]).toEqual([undefined, undefined])
    const refused = (await limit(request({ accept: 'application/json' }), ADA)) as Response
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/problem+json',
      'retry-after': '30',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
    })
    expect({ status: refused.status, ...((await refused.json()) as object) }).toMatchObject({
      status: 429,
      'violated-policies': ['2-in-1min'],
    })
    expect(await limit(request(), BOB)).toBeUndefined()
  })

  test('refuses a request again that it has refused, and charges it once', async () => {
    const limit = limiterOf({ limit: 1 })
    const [allowed, refused] = [request(), request()]
    expect([await limit(allowed, ADA), await limit(allowed, ADA)]).toEqual([undefined, undefined])
    for (let i = 0; i < 2; i++) expect(await limit(refused, ADA)).toMatchObject({ status: 429 })
  })

  test('gives its decision on a request', async () => {
    const [one, other] = [limiterOf(), limiterOf({ limit: 9 })]
    const seen = request()
    expect(one.decisionOf(seen)).toBeUndefined()
    await one(seen, ADA)
    await other(seen, ADA)
    expect(one.decisionOf(seen)).toMatchObject({ allowed: true, limit: 2, remaining: 1 })
    expect(other.decisionOf(seen)).toMatchObject({ limit: 9, remaining: 8 })
    expect(one.decisionOf(request())).toBeUndefined()
  })

  test('forgets a client by what the key reads', async () => {
    const limit = limiterOf()
    expect(await statusesOf(limit, ADA, ADA, ADA)).toEqual([200, 200, 429])
    await adjustments(limit.limiter).forget(ADA)
    expect(await statusesOf(limit, ADA)).toEqual([200])
  })

  test('rejects with what an option function threw, and the handler does not run', async () => {
    const error = new Error('the database is down')
    const limit = limiterOf({ key: () => Promise.reject(error) })
    const next = jest.fn(hello)
    await expect(limit.handle(request(), ADA, next)).rejects.toBe(error)
    expect(next).not.toHaveBeenCalled()
  })

  test.each([undefined, null, 7])('wrong options are an error: %p', (options) => {
    expect(() => rateLimit(options as never)).toThrow(TypeError)
  })
})

describe('the address', () => {
  test.each([
    ['left out', {}],
    ['null', { ip: null }],
    ['no address', { ip: 'localhost' }],
  ])('where it is %s, requests share a bucket, and a warning is emitted', async (_what, info) => {
    const limit = limiterOf()
    expect(await statusesOf(limit, info, info, ADA, {}, ADA)).toEqual([200, 200, 200, 429, 200])
    expect(warnings()).toEqual(['HEADGATE_NO_ADDRESS'])
  })

  test('is that of the peer where proxies are trusted', async () => {
    const limit = limiterOf({ key: byIp({ trustProxy: ['10.0.0.0/8'] }) })
    const from = (ip: string) => limit(request({ 'x-forwarded-for': '203.0.113.7' }), { ip })
    expect([await from('10.0.0.1'), await from('10.0.0.2')]).toEqual([undefined, undefined])
    expect(await from('10.0.0.3')).toMatchObject({ status: 429 })
    expect(await from('192.0.2.1')).toBeUndefined()
    expect(warnings()).toEqual([])
  })

  test('is the last forwarded one where the platform reports none and one proxy is trusted', async () => {
    const limit = limiterOf({ key: byIp({ trustProxy: 1 }) })
    const from = (chain: string) => limit(request({ 'x-forwarded-for': chain }), {})
    expect([await from('1.1.1.1, 203.0.113.7'), await from('203.0.113.7')]).toEqual([undefined, undefined])
    expect(await from('2.2.2.2, 203.0.113.7')).toMatchObject({ status: 429 })
  })

  test('is what block and allow see', async () => {
    const limit = limiterOf({ block: ['192.0.2.1'], allow: ['192.0.2.2'] })
    expect(await statusesOf(limit, ADA, BOB, BOB, BOB)).toEqual([403, 200, 200, 200])
  })
})

describe('what the platform knows', () => {
  test('is read by the keys: user, body and route', async () => {
    const policy = fixedWindow({ limit: 2, window: '1m' })
    const limit = rateLimit({
      limits: [
        { name: 'user', policy, key: byUser() },
        { name: 'name', policy, key: byField('name') },
        { name: 'route', policy, key: [byIp(), byRoute()] },
      ],
    })
    const info = (n: number) => ({ ip: ADA.ip, user: { id: n }, body: { name: `n${n}` }, route: `/r/${n}` })
    for (const same of ['user', 'body', 'route'] as const) {
      const [first, second, third] = [info(1), info(2), info(3)].map((each) => ({
        ...each,
        [same]: { user: { id: 'u' }, body: { name: 'ada' }, route: '/r' }[same],
      })) as [FetchInfo, FetchInfo, FetchInfo]
      expect(await statusesOf(limit, first, second, third)).toEqual([200, 200, 429])
    }
  })

  test('is what the callbacks are called with, beside the request', async () => {
    interface Info extends FetchInfo {
      tenant: { id: string; isTrusted: boolean }
    }
    const seen: unknown[] = []
    const limit = limiterOf<Info>({
      key: ({ tenant, request }) => tenant.id + request.headers.get('x-part'),
      skip: (...given) => given.length === 1 && given[0].tenant.isTrusted,
      onDenied: ({ tenant, rateLimit }, { retryAfterMs }) => {
        seen.push(tenant.id, rateLimit?.allowed, retryAfterMs)
        return new Response('wait', { status: 420, headers: { 'Retry-After': '99' } })
      },
    })
    const send = (tenant: Info['tenant']) => limit(request({ 'x-part': 'a' }), { tenant })
    for (let i = 0; i < 3; i++) expect(await send({ id: 'x', isTrusted: true })).toBeUndefined()
    for (let i = 0; i < 2; i++) expect(await send({ id: 'x', isTrusted: false })).toBeUndefined()
    const refused = await send({ id: 'x', isTrusted: false })
    expect(refused).toMatchObject({ status: 420 })
    expect(refused?.headers.get('retry-after')).toBe('99') // the application's own stays
    expect(refused && quotaOf(refused)).toBe('0')
    expect(seen).toEqual(['x', false, 30_000])
  })

  test('may grow between two limiters: one before authentication, one after', async () => {
    const [byAddress, perUser] = [limiterOf(), limiterOf({ key: byUser() })]
    const send = async (ip: string) => {
      const seen = request()
      return (await byAddress(seen, { ip })) ?? (await perUser(seen, { user: { id: 'ada' } }))
    }
    expect([await send('192.0.2.1'), await send('192.0.2.2')]).toEqual([undefined, undefined])
    expect(await send('192.0.2.3')).toMatchObject({ status: 429 })
  })

  test('onDenied has to return a response, or the limiter rejects', async () => {
    const limit = limiterOf({ limit: 1, onDenied: () => undefined as never })
    await limit(request(), ADA)
    await expect(limit(request(), ADA)).rejects.toThrow(
      'rateLimit: the result of onDenied must be a Response, got undefined.',
    )
  })
})

describe('finish', () => {
  test('returns the response itself, with the headers of all limiters', async () => {
    const limits = [limiterOf({ name: 'a' }), limiterOf({ name: 'b', limit: 9, headers: 'both' })] as const
    const seen = request()
    for (const limit of limits) await limit(seen, ADA)
    const response = hello()
    expect(limits[0].finish(seen, response)).toBe(response)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-ratelimit-limit': '2',
      'ratelimit-policy': '"b";q=9;w=60',
    })
  })

  test('leaves headers that the response has', async () => {
    const limit = limiterOf()
    const headers = { 'X-RateLimit-Remaining': '77' }
    expect(quotaOf(await limit.handle(request(), ADA, () => new Response('', { headers })))).toBe('77')
  })

  test('leaves the response to a request alone that no limiter has seen', () => {
    const response = hello()
    expect(limiterOf().finish(request(), response)).toBe(response)
    expect(quotaOf(response)).toBeNull()
  })

  test.each([
    ['a redirect', () => Response.redirect('http://localhost/b', 303), 303],
    ['a fetched response', () => fetch('data:text/plain,hello'), 200],
  ])('copies a response whose headers are immutable: %s', async (_what, next, status) => {
    const response = await limiterOf().handle(request(), ADA, next)
    expect({ status: response.status, quota: quotaOf(response) }).toEqual({ status, quota: '1' })
    expect(await response.text()).toBe(status === 200 ? 'hello' : '')
    expect(response.headers.get('location')).toBe(status === 303 ? 'http://localhost/b' : null)
  })

  test('keeps each cookie of a response, and does not read its stream', async () => {
    let pulls = 0
    const body = new ReadableStream(
      {
        pull(controller) {
          controller.enqueue(new TextEncoder().encode('x'))
          if (++pulls === 3) controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const headers = new Headers([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ])
    const response = await limiterOf().handle(request(), ADA, () => new Response(body, { headers }))
    expect({ pulls, cookies: response.headers.getSetCookie(), quota: quotaOf(response) }).toEqual({
      pulls: 0,
      cookies: ['a=1', 'b=2'],
      quota: '1',
    })
    expect(await response.text()).toBe('xxx')
  })

  test('leaves Response.error() as it is, which cannot be sent nor copied', async () => {
    const response = Response.error()
    expect(await limiterOf().handle(request(), ADA, () => response)).toBe(response)
  })
})

test('a response of the application in place of a denial has the quota, and headers of its own body', async () => {
  const limit = rateLimit({ limit: 1, window: '10s' })
  await limit(request(), { ip: '192.0.2.1' })
  const denied = request()
  expect((await limit(denied, { ip: '192.0.2.1' }))?.headers.get('content-length')).toBe('44')
  const own = limit.finish(denied, Response.json({ slow: 'down' }, { status: 429 }))
  expect(own.headers.get('content-type')).toBe('application/json')
  expect(own.headers.get('content-length')).toBeNull()
  expect(own.headers.get('retry-after')).toBe('10')
})

test('a response object that is returned for several requests shows each its own quota', async () => {
  const limit = rateLimit({ limit: 10, window: '10s' })
  const noContent = new Response(null, { status: 204 })
  const remaining: (string | null)[] = []
  for (const ip of ['192.0.2.1', '192.0.2.1', '192.0.2.2']) {
    const one = request()
    await limit(one, { ip })
    remaining.push(limit.finish(one, noContent).headers.get('x-ratelimit-remaining'))
  }
  expect(remaining).toEqual(['9', '8', '9'])
})

test('a limiter that rejects releases what those before it hold', async () => {
  const inFlight = rateLimit({ policy: concurrency({ limit: 1 }), key: () => 'all' })
  const broken = rateLimit({ limit: 1, window: '1s', skip: () => Promise.reject(new Error('no skip')) })
  const one = request()
  expect(await inFlight(one, {})).toBeUndefined()
  await expect(broken(one, {})).rejects.toThrow('no skip')
  expect(await inFlight(request(), {})).toBeUndefined()
})

describe('handle', () => {
  test('finishes a response that the handler throws, and throws it', async () => {
    const limit = limiterOf({ limit: 1, count: 'failed' })
    const login = () => Promise.reject(new Response('', { status: 302 }))
    for (let i = 0; i < 3; i++) {
      const thrown = await limit.handle(request(), ADA, login).catch((error) => error)
      expect({ status: thrown.status, quota: quotaOf(thrown) }).toEqual({ status: 302, quota: '0' })
    }
  })

  test('throws what else the handler throws, and the request stays charged', async () => {
    const limit = limiterOf({ limit: 1, count: 'successful' })
    const broken = () => {
      throw new Error('broken')
    }
    await expect(limit.handle(request(), ADA, broken)).rejects.toThrow('broken')
    expect(await statusesOf(limit, ADA)).toEqual([429])
  })
})

describe('refunds by outcome', () => {
  const failing = () => new Response('', { status: 401 })

  test('count: "failed" charges failures alone', async () => {
    const limit = limiterOf({ count: 'failed' })
    expect(await statusesOf(limit, ADA, ADA, ADA)).toEqual([200, 200, 200])
    for (let i = 0; i < 2; i++)
      expect(await limit.handle(request(), ADA, failing)).toMatchObject({ status: 401 })
    expect(await statusesOf(limit, ADA)).toEqual([429])
  })

  test('a count function reads the finished response', async () => {
    const count = (_subject: FetchSubject, response: Response) => response.headers.get('x-cached') === null
    const limit = limiterOf({ limit: 1, count })
    const cached = () => new Response('', { headers: { 'x-cached': 'yes' } })
    for (let i = 0; i < 3; i++)
      expect(await limit.handle(request(), ADA, cached)).toMatchObject({ status: 200 })
    expect(await statusesOf(limit, ADA, ADA)).toEqual([200, 429])
  })

  test('a denial by a second limiter is the outcome of the first', async () => {
    const [first, second] = [limiterOf({ limit: 1, count: 'successful' }), limiterOf({ block: [ADA.ip] })]
    for (let i = 0; i < 3; i++) {
      const seen = request()
      expect(await first(seen, ADA)).toBeUndefined()
      expect(await second(seen, ADA)).toMatchObject({ status: 403 })
    }
  })

  test('a request that is aborted before its response stays charged', async () => {
    const limit = limiterOf({ limit: 1, count: 'failed' })
    const client = new AbortController()
    await limit.handle(request({}, { signal: client.signal }), ADA, () => {
      client.abort()
      return hello()
    })
    expect(await statusesOf(limit, ADA)).toEqual([429])
  })

  test('waitUntil is given the refund, and not called without one', async () => {
    let isRefunded = false
    const memory = memoryStore({ clock: () => 0 })
    const waiting: Promise<unknown>[] = []
    const slow = storeOf({
      ...memory,
      name: 'slow',
      async refund(refunds) {
        await new Promise(setImmediate)
        refundStore(memory, refunds)
        isRefunded = true
      },
    })
    const waitUntil = (work: Promise<unknown>) => void waiting.push(work)
    const limit = limiterOf({ store: slow, count: 'failed' })
    await limit.handle(request(), { ...ADA, waitUntil }, hello)
    expect({ isRefunded, waiting: waiting.length }).toEqual({ isRefunded: false, waiting: 1 })
    await waiting[0]
    expect(isRefunded).toBe(true)
    await limiterOf().handle(request(), { ...ADA, waitUntil }, hello)
    expect(waiting).toHaveLength(1)
  })
})

const SHARED = new Response(null, { status: 429 })

describe('the response of onDenied', () => {
  test.each([
    ['immutable', () => Response.redirect('http://localhost/slow', 302)],
    ['shared', () => SHARED],
  ])('that is %s gets the headers of its own request', async (_what, onDenied) => {
    let nowMs = 0
    const store = memoryStore({ clock: () => nowMs })
    const limit = rateLimit({ policy: fixedWindow({ limit: 1, window: '1m' }), onDenied, store })
    await limit(request(), ADA)
    const retries: unknown[] = []
    for (; nowMs < 3000; nowMs += 1000)
      retries.push((await limit(request(), ADA))?.headers.get('retry-after'))
    expect(retries).toEqual(['60', '59', '58'])
  })
})

test('a limiter that is given less than an earlier one erases nothing', async () => {
  const [byAddress, byName] = [limiterOf(), limiterOf({ key: byUser() })]
  const req = request()
  await byAddress(req, ADA)
  await byName(req, { ip: undefined, user: { id: 7 } })
  const again = limiterOf({ limit: 1 })
  expect(await again(req, {})).toBeUndefined()
  expect(await again(request(), BOB)).toBeUndefined()
})

test.each<[string, (limit: ReturnType<typeof limiterOf>) => unknown, string]>([
  [
    'no request',
    (limit) => limit(undefined as never, ADA),
    'rateLimit: call the function that it returns with a Request, such as event.request of SvelteKit.',
  ],
  ['a context', (limit) => limit({ req: request() } as never, ADA), 'event.request of SvelteKit'],
  ['no info', (limit) => limit(request(), null as never), 'rateLimit: info must be an object, got null.'],
  [
    'a method',
    (limit) => limit(request(), { method: 'GET' } as never),
    'rateLimit: info has method, which is read',
  ],
])('%s is a TypeError', async (_what, call, message) => {
  await expect(call(limiterOf())).rejects.toThrow(TypeError)
  await expect(call(limiterOf())).rejects.toThrow(message)
})

test('finish throws a TypeError for what is no response', () => {
  expect(() => limiterOf().finish(request(), undefined as never)).toThrow(
    'rateLimit: response must be a Response, got undefined.',
  )
})
