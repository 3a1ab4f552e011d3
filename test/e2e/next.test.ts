import type { IncomingMessage, ServerResponse } from 'node:http'
import { type RateLimitOptions, rateLimit, tokenBucket } from 'headgate'
import { EXPRESS_5, FRAMEWORKS, type Handler, sayHello } from '../support/frameworks.js'
import { closeServers, send, serve } from '../support/http.js'

afterEach(closeServers)

type Options = RateLimitOptions<IncomingMessage, ServerResponse>

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const fail = (): never => {
  throw new Error('the database is down')
}
const failLater = () => Promise.reject(new Error('the database is down'))

/** Each option that is a function, with one that fails. */
const FAILING: readonly (readonly [string, Options])[] = [
  ['skip', { limit: 5, window: '1m', skip: fail }],
  ['async skip', { limit: 5, window: '1m', skip: failLater }],
  ['policy', { policy: fail }],
  ['async policy', { policy: failLater }],
  ['key', { policy, key: fail }],
  ['async key', { policy, key: failLater }],
  ['one of several keys', { policy, key: [() => 'a', fail] }],
  ['one of several async keys', { policy, key: [() => 'a', failLater] }],
  ['cost', { policy, cost: fail }],
  ['async cost', { policy, cost: failLater }],
  [
    'cost of one of several limits',
    {
      limits: [
        { policy, name: 'a' },
        { policy, name: 'b', cost: failLater },
      ],
    },
  ],
]

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  test.each(FAILING)('what %s throws goes to next, and never to the handler', async (_option, options) => {
    const reached = jest.fn(sayHello)
    const served = await serve(app(rateLimit(options), reached))
    expect(await send(served)).toMatchObject({ status: 500, text: 'the database is down' })
    expect(reached).not.toHaveBeenCalled()
  })

  test.each(['sync', 'async'])(
    'next is called once when a later handler throws (%s options)',
    async (how) => {
      const limiter = rateLimit({ policy, cost: () => (how === 'async' ? Promise.resolve(1) : 1) })
      const nexts: unknown[] = []
      const counted: Handler = (req, res, next) =>
        limiter(req, res, (error) => {
          nexts.push(error)
          try {
            next(error)
          } catch (thrown) {
            res.statusCode = 500
            res.end((thrown as Error).message)
          }
        })
      const served = await serve(
        app(counted, () => {
          throw new Error('broken page')
        }),
      )
      expect(await send(served)).toMatchObject({ status: 500, text: 'broken page' })
      expect(nexts).toEqual([undefined])
    },
  )
})

// Express reads next('route') and next('router') as "go on elsewhere", and next(undefined) as "go on".
test.each([undefined, null, false, 0, '', 'route', 'router'])(
  'a key function that throws %j is an error, never a free pass',
  async (thrown) => {
    const reached = jest.fn(sayHello)
    for (const key of [
      () => {
        throw thrown
      },
      () => Promise.reject(thrown),
    ]) {
      const served = await serve(EXPRESS_5.app(rateLimit({ policy, key }), reached))
      expect((await send(served)).status).toBe(500)
    }
    expect(reached).not.toHaveBeenCalled()
  },
)

test('two functions that fail at once, one later, are one error and no unhandled rejection', async () => {
  const twoLimits = rateLimit({
    limits: [
      { name: 'a', policy, key: failLater },
      { name: 'b', policy, key: fail },
    ],
  })
  const twoKeys = rateLimit({ policy, key: [failLater, fail] })
  for (const limiter of [twoLimits, twoKeys]) {
    const served = await serve(EXPRESS_5.app(limiter, sayHello))
    expect(await send(served)).toMatchObject({ status: 500, text: 'the database is down' })
  }
})
