import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  consecutive,
  fixedWindow,
  memoryStore,
  type RateLimitOptions,
  rateLimit,
  tokenBucket,
} from 'headgate'
import { parseList } from 'structured-headers'
import { FRAMEWORKS, type Framework, sayHello } from '../support/frameworks.js'
import { closeServers, type Sent, type Served, send, serve, statuses, times } from '../support/http.js'

afterEach(closeServers)

const nowMs = 1_700_000_000_500

type Options = RateLimitOptions<IncomingMessage, ServerResponse>

function serveLimited({ app }: Framework, options: Options = {}): Promise<Served> {
  const store = memoryStore({ clock: () => nowMs })
  const what = options.policy || options.limits ? {} : { limit: 2, window: '10s' }
  return serve(app(rateLimit({ store, ...what, ...options }), sayHello))
}

async function sendDenied(framework: Framework, options: Options = {}, sent: Sent = {}) {
  const served = await serveLimited(framework, options)
  await statuses(served, times(2, sent))
  return send(served, sent)
}

describe.each(FRAMEWORKS)('the middleware on $name', (framework) => {
  beforeEach(() => {
    jest.spyOn(Date, 'now').mockReturnValue(nowMs)
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  test('lets requests through up to the limit, and answers the next one with 429', async () => {
    const served = await serveLimited(framework)
    expect(await statuses(served, times(4))).toEqual([200, 200, 429, 429])
  })

  test('lets a request through to the handler, with the quota in legacy headers', async () => {
    const served = await serveLimited(framework)
    const { text, headers } = await send(served)
    expect(text).toBe('hello')
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': String(Math.ceil((nowMs + 5000) / 1000)),
    })
    expect(headers).not.toHaveProperty('retry-after')
    expect(headers).not.toHaveProperty('cache-control')
    expect(headers).not.toHaveProperty('ratelimit')
  })

  test('answers a denied request with Retry-After, and lets no cache keep the answer', async () => {
    const { status, headers, text } = await sendDenied(framework)
    expect(status).toBe(429)
    expect(headers).toMatchObject({
      'retry-after': '5',
      'cache-control': 'no-store',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'content-type': 'text/plain; charset=utf-8',
    })
    expect(text).toBe('Too many requests. Try again in 5 seconds.\n')
  })

  test('rounds Retry-After up to whole seconds', async () => {
    const policy = tokenBucket({ capacity: 2, refill: 2, every: 2202 })
    expect((await sendDenied(framework, { policy })).headers['retry-after']).toBe('2')
  })

  test('writes draft headers on request, valid structured fields, instead of legacy ones', async () => {
    const policy = fixedWindow({ limit: 2, window: '10s', name: 'burst' })
    const served = await serveLimited(framework, { policy, headers: 'draft' })
    const { headers } = await send(served)
    expect(parseList(String(headers['ratelimit-policy']))).toEqual([
      [
        'burst',
        new Map([
          ['q', 2],
          ['w', 10],
        ]),
      ],
    ])
    expect(parseList(String(headers.ratelimit))).toEqual([
      [
        'burst',
        new Map([
          ['r', 1],
          ['t', 10],
        ]),
      ],
    ])
    expect(headers).not.toHaveProperty('x-ratelimit-limit')
  })

  test('writes both kinds of headers on request', async () => {
    const { headers } = await send(await serveLimited(framework, { headers: 'both' }))
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '1', ratelimit: '"2-in-10s";r=1;t=5' })
  })

  test('writes no quota headers with headers: false, but still Retry-After', async () => {
    const { status, headers } = await sendDenied(framework, { headers: 'none' })
    expect(status).toBe(429)
    expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([])
    expect(headers).toMatchObject({ 'retry-after': '5', 'cache-control': 'no-store' })
  })

  test('counts X-RateLimit-Reset from now on request', async () => {
    const served = await serveLimited(framework, { resetFormat: 'delta-seconds' })
    expect((await send(served)).headers['x-ratelimit-reset']).toBe('5')
  })

  test('writes no X-RateLimit-Reset and no Retry-After if time restores nothing', async () => {
    const { status, headers } = await sendDenied(framework, { policy: consecutive({ limit: 2 }) })
    expect(status).toBe(403)
    expect(headers).not.toHaveProperty('x-ratelimit-reset')
    expect(headers).not.toHaveProperty('retry-after')
  })

  test.each(['application/json', 'application/problem+json', 'application/json, text/plain;q=0.5'])(
    'answers with a problem document for Accept: %s',
    async (accept) => {
      const { headers, text } = await sendDenied(framework, {}, { headers: { accept } })
      expect(headers['content-type']).toBe('application/problem+json')
      expect(JSON.parse(text)).toEqual({
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        title: 'Too many requests',
        status: 429,
        detail: 'Try again in 5 seconds.',
        'violated-policies': ['2-in-10s'],
      })
    },
  )

  test.each(['text/html,*/*;q=0.8', '*/*', 'text/plain, application/json;q=0.5', 'image/png', '', ';;=,,q'])(
    'answers with plain text for Accept: %j',
    async (accept) => {
      const { headers } = await sendDenied(framework, {}, { headers: { accept } })
      expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    },
  )

  test('sends a message of the user: a string as text, an object as JSON, with a status of the user', async () => {
    const asText = await sendDenied(framework, { message: 'Slow down, please.', statusCode: 420 })
    expect(asText).toMatchObject({ status: 420, text: 'Slow down, please.' })
    expect(asText.headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', 'retry-after': '5' })
    const asJson = await sendDenied(framework, { message: { error: 'slow down' } })
    expect(asJson).toMatchObject({ status: 429, text: '{"error":"slow down"}' })
    expect(asJson.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  test('puts a status of the user into the problem document too', async () => {
    const answer = await sendDenied(
      framework,
      { statusCode: 503 },
      { headers: { accept: 'application/json' } },
    )
    expect(answer.status).toBe(503)
    expect(JSON.parse(answer.text)).toMatchObject({ status: 503 })
  })

  test.each(['sync', 'async'])('lets a function answer a denied request itself (%s)', async (how) => {
    const { status, headers, text } = await sendDenied(framework, {
      onDenied: (_req, res, _next, decision) => {
        res.statusCode = 418
        const answer = () => res.end(`${decision.limitName} is over, ${decision.retryAfterMs} ms`)
        return how === 'async' ? Promise.resolve().then(answer) : answer()
      },
    })
    expect(status).toBe(418)
    expect(text).toBe('2-in-10s is over, 5000 ms')
    expect(headers).toMatchObject({ 'retry-after': '5', 'x-ratelimit-remaining': '0' })
  })

  test('lets a function pass a denied request on', async () => {
    const answer = await sendDenied(framework, { onDenied: (_req, _res, next) => next() })
    expect(answer).toMatchObject({ status: 200, text: 'hello' })
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('template is missing')
      },
    ],
    ['rejects', () => Promise.reject(new Error('template is missing'))],
  ])('hands the error to next when a function that answers %s', async (_how, onDenied) => {
    expect(await sendDenied(framework, { onDenied })).toMatchObject({
      status: 500,
      text: 'template is missing',
    })
  })
})
