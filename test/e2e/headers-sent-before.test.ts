import type { IncomingMessage, ServerResponse } from 'node:http'
import { loginGuard, memoryStore, type RateLimitOptions, rateLimit } from 'headgate'
import { brokenStore } from '../support/fault-stores.js'
import { FRAMEWORKS, type Handler, NODE_HTTP } from '../support/frameworks.js'
import { closeServers } from '../support/http.js'
import { HTTP1, PROTOCOLS } from '../support/protocols.js'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

type Options = Partial<RateLimitOptions<IncomingMessage, ServerResponse>>

const limiter = (options: Options) => rateLimit({ limit: 1, window: '1m', cost: 2, ...options })

/** A guard whose account is locked. */
async function lockingGuard(): Promise<Handler> {
  const guard = loginGuard({ account: () => 'ada', consecutive: 1, store: memoryStore() })
  await guard.limiter.charge({ ip: '127.0.0.1' } as never)
  return guard as Handler
}

/** Ways to refuse a request. */
const REFUSING: readonly (readonly [string, () => Handler | Promise<Handler>])[] = [
  ['429', () => limiter({})],
  ['429 with a message', () => limiter({ message: { error: 'slow down' } })],
  ['429 by onDenied', () => limiter({ onDenied: (_req, res) => res.writeHead(429).end('no') })],
  ['403', () => limiter({ block: ['127.0.0.0/8'] })],
  ['503', () => limiter({ store: brokenStore(), onStoreError: 'deny' })],
  ['400 by a guard', () => loginGuard({ field: 'username', store: memoryStore() })],
  ['429 by a guard', lockingGuard],
]

const sendHalf: Handler = (_req, res, next) => {
  res.writeHead(200, { 'content-type': 'text/plain' })
  res.write('half')
  setTimeout(next, 20) // the client has that by then
}

describe.each(PROTOCOLS)('over $name', (protocol) => {
  test.each(REFUSING)('a %s after headers were sent ends the response as broken', async (_what, refusing) => {
    const reached = jest.fn()
    const failed = jest.fn((error: unknown, _req, res: ServerResponse) => res.destroy(error as Error))
    const limit = await refusing()
    const guarded: Handler = (req, res, next) => {
      limit(req, res, (error) => (error === undefined ? next() : failed(error, req, res)))
    }
    const endpoint = await protocol.serve(NODE_HTTP.app(sendHalf, guarded, reached))
    for (let i = 0; i < 2; i++) await expect(endpoint.send({ method: 'POST' })).rejects.toThrow()
    expect(reached).not.toHaveBeenCalled()
    expect(failed).not.toHaveBeenCalled()
    expect(warnings().filter((code) => code === 'HEADGATE_HEADERS_SENT')).toHaveLength(1)
  })
})

test.each(FRAMEWORKS)(
  'a 429 after headers were sent ends the response as broken on $name',
  async ({ app }) => {
    const reached = jest.fn()
    const endpoint = await HTTP1.serve(app(sendHalf, limiter({}), reached))
    await expect(endpoint.send()).rejects.toThrow()
    expect(reached).not.toHaveBeenCalled()
    expect(warnings()).toEqual(['HEADGATE_HEADERS_SENT'])
  },
)

test('in report mode a response whose headers were sent goes on', async () => {
  const finish: Handler = (_req, res) => res.end(' and half')
  for (const protocol of PROTOCOLS) {
    const endpoint = await protocol.serve(NODE_HTTP.app(sendHalf, limiter({ mode: 'report' }), finish))
    expect(await endpoint.send()).toMatchObject({ status: 200, text: 'half and half' })
  }
  expect(warnings()).toEqual([])
})

test.each(FRAMEWORKS)(
  'an allowed request whose headers were sent goes on, also at a second limiter, on $name',
  async ({ app }) => {
    const roomy = () => limiter({ limit: 5, headers: 'both' })
    const finish: Handler = (_req, res) => res.end(' and half')
    const endpoint = await HTTP1.serve(app(roomy(), sendHalf, roomy(), roomy(), finish))
    expect(await endpoint.send()).toMatchObject({ status: 200, text: 'half and half' })
    expect(warnings()).toEqual([])
  },
)
