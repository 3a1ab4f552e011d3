import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  concurrency,
  fixedWindow,
  memoryStore,
  type RateLimitOptions,
  rateLimit,
  requestDelay,
} from 'headgate/fetch'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const LIMIT = 3
const INFO = { ip: '192.0.2.1' }
const ENDLESS = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1000)) })

/** A limiter of three requests at once. */
const limiterOf = (options: Partial<RateLimitOptions> = {}) =>
  rateLimit({ policy: concurrency({ limit: LIMIT }), store: memoryStore(), ...options })

type Limiter = ReturnType<typeof limiterOf>

const request = (init: RequestInit = {}) => new Request('http://localhost/a', init)

const freeIn = async ({ limiter }: Limiter) => (await limiter.peek(INFO as never)).remaining

/** Returns what is free once garbage has been collected until something is, or a second has passed. */
async function freeAfterCollection(limit: Limiter): Promise<number> {
  for (let i = 0; i < 20 && (await freeIn(limit)) < LIMIT; i++) {
    collectGarbage()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return freeIn(limit)
}

describe('a request holds its units', () => {
  test('until its response has been read', async () => {
    const limit = limiterOf()
    const response = await limit.handle(request(), INFO, () => new Response('hello', { status: 201 }))
    expect(await freeIn(limit)).toBe(LIMIT - 1)
    expect([response.status, await response.text()]).toEqual([201, 'hello'])
    expect(await freeIn(limit)).toBe(LIMIT)
  })

  test('until its response has been cancelled, and so has what the response was made of', async () => {
    const limit = limiterOf()
    const cancel = jest.fn()
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(9)), cancel })
    const response = await limit.handle(request(), INFO, () => new Response(body))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    expect(await freeIn(limit)).toBe(LIMIT - 1)
    await reader.cancel('enough')
    expect(cancel.mock.calls).toEqual([['enough']])
    expect(await freeIn(limit)).toBe(LIMIT)
  })

  test('until its response has failed', async () => {
    const limit = limiterOf()
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) })
    const response = await limit.handle(request(), INFO, () => new Response(body))
    await expect(response.text()).rejects.toThrow('gone')
    expect(await freeIn(limit)).toBe(LIMIT)
  })

  test('until its handler has thrown', async () => {
    const limit = limiterOf()
    const fails = () => Promise.reject(new Error('gone'))
    await expect(limit.handle(request(), INFO, fails)).rejects.toThrow('gone')
    expect(await freeIn(limit)).toBe(LIMIT)
  })

  test('until its handler has ended, if it is aborted meanwhile', async () => {
    const limit = limiterOf()
    const controller = new AbortController()
    await limit.handle(request({ signal: controller.signal }), INFO, async () => {
      controller.abort()
      expect(await freeIn(limit)).toBe(LIMIT - 1)
      return new Response(ENDLESS())
    })
    expect(await freeIn(limit)).toBe(LIMIT)
  })

  test('not at all if it is aborted before its turn: no handler sees it', async () => {
    const limit = limiterOf()
    const next = jest.fn()
    const response = await limit.handle(request({ signal: AbortSignal.abort() }), INFO, next)
    expect([response.status, next.mock.calls.length, await freeIn(limit)]).toEqual([499, 0, LIMIT])
  })

  test.each([
    ['to HEAD', request({ method: 'HEAD' }), () => new Response('hello')],
    ['without a body', request(), () => new Response(null, { status: 204 })],
    ['that is a redirect', request(), () => Response.redirect('http://localhost/b', 302)],
  ])('until it has a response %s, whose body no server reads', async (_what, of, next) => {
    const limit = limiterOf()
    const kept = await limit.handle(of, INFO, next)
    expect(await freeIn(limit)).toBe(LIMIT)
    expect(kept.bodyUsed).toBe(false)
  })
})

describe('what nobody ends is released with the garbage', () => {
  test('a response that is discarded unread', async () => {
    const limit = limiterOf()
    for (const body of ['hello', ENDLESS()]) await limit.handle(request(), INFO, () => new Response(body))
    expect(await freeAfterCollection(limit)).toBe(LIMIT)
  })

  test('a request that has no response, since its handler threw between the halves', async () => {
    const limit = limiterOf()
    for (let i = 0; i < LIMIT; i++) await limit(request(), INFO)
    expect((await limit(request(), INFO))?.status).toBe(429)
    expect(await freeAfterCollection(limit)).toBe(LIMIT)
  })

  test('but no response that is still read, when its request is garbage', async () => {
    const limit = limiterOf()
    const response = await limit.handle(request(), INFO, () => new Response(ENDLESS()))
    const reader = (response.body as ReadableStream).getReader()
    for (let i = 0; i < 3; i++) {
      collectGarbage()
      await new Promise((resolve) => setTimeout(resolve, 20))
      await reader.read()
    }
    expect(await freeIn(limit)).toBe(LIMIT - 1)
    await reader.cancel()
    expect(await freeIn(limit)).toBe(LIMIT)
  })
})

test('a delayed request has its response as it is', async () => {
  const policy = fixedWindow({ limit: 5, window: '1h' })
  const limit = rateLimit({ policy, store: memoryStore(), delay: requestDelay({ after: 0, by: '5ms' }) })
  const own = new Response('hello')
  expect(await limit.handle(request(), INFO, () => own)).toBe(own)
})
