import type { RequestListener } from 'node:http'
import { type RateLimitOptions, rateLimit } from 'headgate/http'
import { closeServers, send, serve } from '../../support/http.js'

afterEach(closeServers)

/**
 * Starts a server whose limiter denies all requests but one. If `next` gets an error, the server responds
 * with its message.
 */
function start(onDenied: RateLimitOptions['onDenied']) {
  const limit = rateLimit({ limit: 1, window: '1m', ...(onDenied && { onDenied }) })
  const answer: RequestListener = (req, res) =>
    limit(req, res, (error) => {
      res.end(error instanceof Error ? `${res.statusCode} ${error.message}` : 'ok')
    })
  return serve(answer)
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
