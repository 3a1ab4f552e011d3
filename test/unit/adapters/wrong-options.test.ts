import { loginGuard as onExpress, overloadGuard as overloadExpress } from 'headgate'
import { MemoryStore } from 'headgate/express-rate-limit'
import { loginGuard as onFastify, overloadGuard as overloadFastify, rateLimitHook } from 'headgate/fastify'
import {
  loginGuard as onFetch,
  overloadGuard as overloadFetch,
  rateLimit as rateLimitFetch,
  requestDelay,
} from 'headgate/fetch'
import { overloadGuard as overloadHono } from 'headgate/hono'
import { loginGuard as onKoa, overloadGuard as overloadKoa, rateLimit as rateLimitKoa } from 'headgate/koa'
import { loginGuard as onNest, overloadGuard as overloadNest } from 'headgate/nest'

test.each<[string, string, (options: never) => unknown]>([
  ['headgate/fetch', 'rateLimit', rateLimitFetch],
  ['headgate/koa', 'rateLimit', rateLimitKoa],
  ['headgate/fastify', 'rateLimitHook', rateLimitHook],
  ['headgate', 'loginGuard', onExpress],
  ['headgate/fetch', 'loginGuard', onFetch],
  ['headgate/koa', 'loginGuard', onKoa],
  ['headgate/fastify', 'loginGuard', onFastify],
  ['headgate/nest', 'loginGuard', onNest],
  ['headgate/fastify', 'overloadGuard', overloadFastify],
  ['headgate/fetch', 'overloadGuard', overloadFetch],
  ['headgate/hono', 'overloadGuard', overloadHono],
  ['headgate/koa', 'overloadGuard', overloadKoa],
  ['headgate/nest', 'overloadGuard', overloadNest],
])('wrong options are a TypeError that names the function of %s: %s', (_, owner, create) => {
  const misspelled = { limitt: 5, window: '1m', field: 'username' }
  expect(() => create(misspelled as never)).toThrow(TypeError)
  expect(() => create(misspelled as never)).toThrow(new RegExp(`^${owner}: `))
})

test.each<[string, (options: never) => unknown]>([
  ['loginGuard', onExpress],
  ['loginGuard', onFetch],
  ['loginGuard', onKoa],
  ['loginGuard', onFastify],
  ['loginGuard', onNest],
  ['overloadGuard', overloadExpress],
  ['overloadGuard', overloadFastify],
  ['overloadGuard', overloadFetch],
  ['overloadGuard', overloadHono],
  ['overloadGuard', overloadKoa],
  ['overloadGuard', overloadNest],
])('what is no options object is a TypeError of %s', (owner, create) => {
  const messageOf = (given: unknown): unknown => {
    try {
      return create(given as never)
    } catch (error) {
      return error instanceof TypeError && error.message.split('. ')[0]
    }
  }
  expect([null, 'api', 7, ['api'], () => 'api', Promise.resolve()].map(messageOf)).toEqual([
    `${owner}: options must be an object, got null`,
    `${owner}: options must be an object, got a string`,
    `${owner}: options must be an object, got a number`,
    `${owner}: options must be an object, got an array of 1`,
    `${owner}: options must be an object, got a function`,
    `${owner}: options must be an options object, got a promise`,
  ])
})

test.each<[string, (options: never) => unknown]>([
  ['loginGuard', onNest],
  ['overloadGuard', overloadNest],
])('in Nest, %s takes a function exception in place of onDenied', (owner, create) => {
  const withField = owner === 'loginGuard' ? { field: 'username' } : {}
  const make = (options: object) => () => create({ ...withField, ...options } as never)
  expect(make({ onDenied: () => undefined })).toThrow(
    `${owner}: there is no option onDenied. Write exception, which returns what is thrown for a denied request.`,
  )
  expect(make({ exception: 'none' })).toThrow(`${owner}: exception must be a function, got a string`)
  expect(make({ exception: undefined, onDenied: undefined })).not.toThrow()
})

test('a fetch request whose client hangs up while it is delayed has the status 499', async () => {
  const limit = rateLimitFetch({
    limit: 5,
    window: '1m',
    key: () => 'ada',
    delay: requestDelay({ after: 0, by: '20s' }),
  })
  const client = new AbortController()
  const pending = limit(new Request('http://localhost/', { signal: client.signal }), { ip: '192.0.2.1' })
  setImmediate(() => client.abort())
  expect((await pending)?.status).toBe(499)
})

test('the MemoryStore of headgate/express-rate-limit says that its keys are its own', () => {
  expect(new MemoryStore().localKeys).toBe(true)
})
