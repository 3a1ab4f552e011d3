import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import {
  adjustments,
  type Decision,
  type MiddlewareLimiter,
  memoryStore,
  type RateLimited,
  type RateLimitOptions,
  rateLimit,
  responseCost,
} from 'headgate/http'
import { closeServers, send, serve } from '../../support/http.js'
import { until } from '../../support/servers/wait.js'

afterEach(closeServers)

type Handle = (req: IncomingMessage, res: ServerResponse) => void

/** The limiter of the server that was started last. */
let limiter: MiddlewareLimiter<IncomingMessage>

const answer: Handle = (_req, res) => void res.end('answer')

/** Starts a server whose limiter's clock stands still. `left` returns the remaining units by limit. */
async function start(options: RateLimitOptions, handle: Handle = answer) {
  const limit = rateLimit({ store: memoryStore({ clock: () => 0 }), ...options })
  limiter = limit.limiter
  const errors: unknown[] = []
  limit.limiter.events.on('refundFailed', (error) => errors.push((error as Error).message))
  const server = await serve((req, res) => limit(req, res, () => handle(req, res)))
  return {
    server,
    errors,
    async left() {
      const { parts } = (await limit.limiter.peek({ ip: '192.0.2.7' } as never)) as Decision
      return Object.fromEntries(parts.map(({ name, remaining }) => [name, remaining]))
    },
  }
}

const LIMITS = [
  { name: 'requests', limit: 10, window: '1m', key: () => 'all' },
  { name: 'tokens', limit: 1000, window: '1m', key: () => 'all', cost: 50 },
] as const

type CostOf = Parameters<typeof responseCost>[0]

const both = (costOf: CostOf) => ({ limits: LIMITS, actualCost: responseCost(costOf) })

test('with several limits, only limits whose units are returned change', async () => {
  const { server, left, errors } = await start(both(() => ({ tokens: 120 })))
  await send(server)
  await until('the tokens are taken', async () => (await left()).tokens === 880)
  expect(await left()).toEqual({ requests: 9, tokens: 880 })
  expect(errors).toEqual([])
})

test.each<[CostOf, RegExp]>([
  [() => 120, /must be units by limit name, such as \{ tokens: 1210 \}, .*, got 120/],
  [() => ({ token: 120 }), /limits must be names of this limiter's limits, got "token"/],
  [() => ({ tokens: 1.5 }), /actualCost must be a whole number/],
  [() => undefined as never, /must be units by limit name, .*, got undefined\. Return 0 if/],
  [() => null as never, /must be units by limit name, .*, got null/],
  [() => 5n as never, /must be units by limit name, .*, got 5n/],
  [() => '5' as never, /must be units by limit name, .*, got "5"/],
])('with several limits, a wrong result emits an error, and changes nothing: %p', async (costOf, message) => {
  const { server, left, errors } = await start(both(costOf))
  await send(server)
  await until('the error is emitted', async () => errors.length > 0)
  expect(errors).toEqual([expect.stringMatching(message)])
  expect(await left()).toEqual({ requests: 9, tokens: 950 })
})

describe('a client that hangs up before the response has finished', () => {
  /** Streams until the client has left, and then ends the response. */
  const stream: Handle = (_req, res) => {
    res.write('the whole answer')
    res.once('close', () => setImmediate(() => res.end()))
  }

  async function leftAfterHangUp(cost: number, handle = stream) {
    const costOf = jest.fn(() => cost)
    const key = () => 'all'
    const { server, left } = await start(
      { limit: 100, window: '1m', name: 'api', key, cost: 10, actualCost: responseCost(costOf) },
      handle,
    )
    await new Promise<void>((resolve) => {
      const request = http.get(server, (response) => response.once('data', () => request.destroy()))
      request.once('close', resolve).once('error', () => {})
    })
    await until('the cost is known', () => costOf.mock.calls.length === 1)
    await new Promise((resolve) => setImmediate(resolve)) // the memory store takes or refunds by then
    return left()
  }

  test('pays what the request has cost', async () => {
    expect(await leftAfterHangUp(70)).toEqual({ api: 30 })
  })

  test('pays what the handler has adjusted the charge to', async () => {
    const handle: Handle = (req, res) => {
      void adjustments(limiter).adjust((req as RateLimited).rateLimit as Decision, 80)
      stream(req, res)
    }
    expect(await leftAfterHangUp(70, handle)).toEqual({ api: 20 })
  })

  test('gets nothing back', async () => {
    expect(await leftAfterHangUp(0)).toEqual({ api: 90 })
  })
})

test.each<[string, RateLimitOptions]>([
  ['of the limiter', { limit: 10, window: '1m', cost: 0, actualCost: responseCost(() => 1) }],
  ['of an entry', { limits: [{ limit: 10, window: '1m', cost: 0 }], actualCost: responseCost(() => ({})) }],
])('a cost %s that is always allowed throws, because no request would ever be denied', (_whose, options) => {
  expect(() => rateLimit(options)).toThrow(
    'cost must be at least 1 with actualCost, got 0. A charge of 0 is always',
  )
})
