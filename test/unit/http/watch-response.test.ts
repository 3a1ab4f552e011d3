import type { RequestListener, ServerResponse } from 'node:http'
import { type RateLimitOptions, rateLimit } from 'headgate/http'
import type { Next } from '../../../src/http/options.js'
import { closeServers, send, serve } from '../../support/http.js'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)
afterEach(() => jest.useRealTimers())

/**
 * Starts a server whose limiter denies all requests but one. If `next` gets an error, the server responds
 * with its message, or not at all.
 */
function start(onDenied: RateLimitOptions['onDenied'], atError: 'answers' | 'waits' = 'answers') {
  const limit = rateLimit({ limit: 1, window: '1m', ...(onDenied && { onDenied }) })
  const answer: RequestListener = (req, res) =>
    limit(req, res, (error) => {
      if (!(error instanceof Error)) res.end('ok')
      else if (atError === 'answers') res.end(`${res.statusCode} ${error.message}`)
    })
  return serve(answer)
}

/**
 * Denies a request that `onDenied` does not respond to, and holds its client until the response is ended. From
 * then on, timers are fake.
 */
async function holdDenial(onDenied: (next: Next) => unknown, atError?: 'answers' | 'waits') {
  let held: ServerResponse | undefined
  const server = await start((_req, res, next) => {
    held = res
    return onDenied(next)
  }, atError)
  await send(server)
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] })
  const denied = send(server)
  while (held === undefined) await new Promise((resolve) => setImmediate(resolve))
  return { response: held, denied }
}

test('a response of onDenied has the status of a denial, unless it sets another one', async () => {
  const plain = await start((_req, res) => res.end('wait'))
  await send(plain)
  expect(await send(plain)).toMatchObject({ status: 429, text: 'wait' })
  const own = await start((_req, res) => res.writeHead(420).end('wait'))
  await send(own)
  expect(await send(own)).toMatchObject({ status: 420, text: 'wait' })
})

test('a request that onDenied passes on has neither the status nor the headers of a denial', async () => {
  const server = await start((_req, _res, next) => next())
  const first = await send(server)
  const denied = await send(server)
  expect(denied).toMatchObject({ status: 200, text: 'ok' })
  expect(Object.keys(denied.headers)).toEqual(Object.keys(first.headers))
})

test('a request that onDenied passes on has the headers that were set before the denial', async () => {
  const limit = rateLimit({ limit: 1, window: '1m', onDenied: (_req, _res, next) => next() })
  const server = await serve((req, res) => {
    res.setHeader('Cache-Control', 'public')
    limit(req, res, () => res.end('ok'))
  })
  await send(server)
  const { headers } = await send(server)
  expect([headers['cache-control'], headers['retry-after']]).toEqual(['public', undefined])
})

test('an async onDenied that never settles is reported as well', async () => {
  const { response, denied } = await holdDenial(() => new Promise(() => {}))
  jest.advanceTimersByTime(5000)
  expect(warnings()).toEqual(['HEADGATE_NO_RESPONSE'])
  response.end()
  await denied
})

test.each<[string, NonNullable<RateLimitOptions['onDenied']>]>([
  [
    'throws',
    () => {
      throw new Error('no template')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no template'))],
])(
  'an error that onDenied %s goes to the application, without the status of a denial',
  async (_how, onDenied) => {
    const server = await start(onDenied)
    await send(server)
    expect((await send(server)).text).toBe('200 no template')
  },
)

test('an onDenied that never responds is reported after 5 seconds, while the client waits', async () => {
  const { response, denied } = await holdDenial(() => undefined)
  jest.advanceTimersByTime(4999)
  expect(warnings()).toEqual([])
  jest.advanceTimersByTime(1)
  expect(warnings()).toEqual(['HEADGATE_NO_RESPONSE'])
  response.end('at last')
  expect((await denied).text).toBe('at last')
})

test('a request that onDenied passes on is not reported, however long its response takes', async () => {
  const { response, denied } = await holdDenial((next) => next(new Error('still')), 'waits')
  jest.advanceTimersByTime(10_000)
  expect(warnings()).toEqual([])
  response.end('at last')
  expect((await denied).text).toBe('at last')
})

test('a response that begins after onDenied returns is not reported', async () => {
  const server = await start((_req, res) => void setImmediate(() => res.end('later')))
  await send(server)
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] })
  expect((await send(server)).text).toBe('later')
  jest.advanceTimersByTime(10_000)
  expect(warnings()).toEqual([])
})
