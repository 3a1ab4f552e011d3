import 'reflect-metadata'
import { RateLimitException, RateLimiters, RateLimitFilter, RateLimitGuard } from 'headgate/nest'
import { asResponse, nestWriter } from '../../../../src/adapters/nest/response-writer.js'
import { requestAndResponse } from '../../../support/request-response.js'
import { contextOf, FakeReply, guarded, request, WEB } from './contexts.js'

describe.each(WEB)('a request of %s', (platform) => {
  test('has quota headers, and the decision; a denied one throws, with the headers set', async () => {
    const guard = new RateLimitGuard(new RateLimiters({ limit: 1, window: '1m', statusCode: 420 }))
    const [first, second] = [request(platform), request(platform)]
    expect(await guarded(guard, 'http', [first.req, first.res])).toBeUndefined()
    expect(first.headersOf()).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' })
    expect(first.req.rateLimit).toMatchObject({ allowed: true, remaining: 0 })
    const exception = (await guarded(guard, 'http', [second.req, second.res])) as RateLimitException
    expect(exception).toBeInstanceOf(RateLimitException)
    expect([exception.getStatus(), exception.status, exception.statusCode]).toEqual([420, 420, 420])
    expect(exception.getResponse()).toContain('Too many requests')
    expect(exception.expose).toBe(true)
    expect(second.headersOf()).toMatchObject({ 'retry-after': '60', 'cache-control': 'no-store' })
  })

  test('that is denied is answered by the filter, unless something has answered it', async () => {
    const guard = new RateLimitGuard(new RateLimiters({ limit: 1, window: '1m', message: 'slow down' }))
    await guarded(guard, 'http', [request(platform).req, request(platform).res])
    const denied = request(platform)
    const exception = await guarded(guard, 'http', [denied.req, denied.res])
    const raw = denied.reply.raw
    const end = jest.spyOn(raw, 'end')
    new RateLimitFilter().catch(exception, contextOf('http', [denied.req, denied.res]))
    if (platform === 'Express') {
      expect([raw.statusCode, end.mock.calls]).toEqual([429, [['slow down']]])
      expect(raw.getHeaders()).toMatchObject({ 'content-type': 'text/plain; charset=utf-8' })
    } else {
      expect(denied.reply.sent).toEqual([429, '{}', 'slow down'])
      expect(denied.headersOf()).toMatchObject({ 'content-type': 'text/plain; charset=utf-8' })
    }
    Object.defineProperty(raw, 'headersSent', { value: true })
    new RateLimitFilter().catch(exception, contextOf('http', [denied.req, denied.res]))
    expect([end.mock.calls.length, denied.reply.sent.length]).toEqual(
      platform === 'Express' ? [1, 0] : [0, 3],
    )
  })
})

describe('the filter', () => {
  const exception = new RateLimitException(
    { status: 429, headers: [], contentType: 'text/plain', body: 'slow down' },
    {
      retryAfterMs: 1500.2,
      parts: [
        { name: 'burst', allowed: true },
        { name: 'daily', allowed: false },
      ] as never,
    },
  )
  const details = { code: 'TOO_MANY_REQUESTS', retryAfterMs: 1501, violatedPolicies: ['daily'] }

  test('sends clients of WebSockets the event exception, by what their package has', () => {
    const send = jest.fn()
    const emit = jest.fn()
    const catchFor = (client: object) => new RateLimitFilter().catch(exception, contextOf('ws', [client]))
    catchFor({ readyState: 1, send, emit })
    const data = { status: 'error', message: 'Too Many Requests', ...details }
    expect(send.mock.calls.map(([text]) => JSON.parse(text))).toEqual([{ event: 'exception', data }])
    expect(emit).not.toHaveBeenCalled()
    catchFor({ send, emit })
    expect(emit.mock.calls).toEqual([['exception', data]])
    expect(send).toHaveBeenCalledTimes(1)
  })

  test('throws what is none of its exceptions, and those of GraphQL, which has a place for them', () => {
    const filter = new RateLimitFilter()
    const other = new Error('no database')
    expect(() => filter.catch(other, contextOf('http', []))).toThrow(other)
    expect(() => filter.catch(other, contextOf('ws', [{ emit() {} }]))).toThrow(other)
    expect(() => filter.catch(exception, contextOf('graphql', []))).toThrow(exception)
    expect(exception.extensions).toEqual(details)
  })

  test('is one for these exceptions alone', () => {
    new RateLimitFilter()
    expect(Reflect.getMetadata('__filterCatchExceptions__', RateLimitFilter)).toEqual([RateLimitException])
  })
})

test.each([
  [429, 'TOO_MANY_REQUESTS', 'Too Many Requests'],
  [403, 'FORBIDDEN', 'Forbidden'],
  [503, 'SERVICE_UNAVAILABLE', 'Service Unavailable'],
  [420, 'TOO_MANY_REQUESTS', 'Too Many Requests'],
])('an exception of status %i has the code %s', (status, code, message) => {
  const exception = new RateLimitException({ status, headers: [], contentType: '', body: '' })
  expect([exception.extensions, exception.message]).toEqual([{ code }, message])
  expect(exception.getError()).toEqual({ status: 'error', message, code })
})

test.each<[string, boolean, unknown]>([
  ['a response of Express', true, requestAndResponse().res],
  ['a reply of Fastify', true, new FakeReply(requestAndResponse().res)],
  ['a response of another kind', false, { status: () => undefined }],
  ['null', false, null],
  ['nothing', false, undefined],
])('%s is one that headers are set on: %s', (_, expected, value) => {
  expect(asResponse(value)).toBe(expected ? value : undefined)
})

test('what has no response counts as sent, successful and over', () => {
  const listener = jest.fn()
  expect(nestWriter.getHeader(undefined, 'a')).toBeUndefined()
  expect(nestWriter.areHeadersSent(undefined)).toBe(false)
  expect(nestWriter.statusOf(undefined)).toBe(200)
  nestWriter.removeHeader(undefined, 'a')
  nestWriter.setHeaders(undefined, ['a', 'b'])
  nestWriter.appendHeader(undefined, 'a', ['b'])
  nestWriter.abort(undefined)
  nestWriter.beforeHeaders(undefined, listener)
  nestWriter.onceFinished(undefined, listener)
  nestWriter.onceAborted(undefined, listener)()
  expect(listener).not.toHaveBeenCalled()
  const onLeft = jest.fn()
  expect(nestWriter.onceEnded(undefined, listener, onLeft)).toBe(true)
  expect([listener, onLeft].map(({ mock }) => mock.calls.length)).toEqual([1, 0])
})
