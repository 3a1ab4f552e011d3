import express from 'express'
import * as headgate from 'headgate'
import { rateLimit as fastifyPlugin, rateLimitHook } from 'headgate/fastify'
import * as ofFetch from 'headgate/fetch'
import * as ofHono from 'headgate/hono'
import * as ofKoa from 'headgate/koa'
import { redisStore } from 'headgate/redis'
import { Hono } from 'hono'
import Koa from 'koa'
import request from 'supertest'

const { ban, byField, byHeader, byIp, byRoute, byUser, concurrency, createLimiter, loginGuard } = headgate
const { candidateLimits, memoryStore, rateLimit, responseCost, slidingWindow, tokenBucket } = headgate

const enough = { limit: 5, window: '1m' } as const
const policy = slidingWindow(enough)
const bucket = 'policy: tokenBucket({ capacity: 100, refill: 100,'

/** What somebody wrote by mistake, and what the error says. */
type Mistake = readonly [what: string, write: () => unknown, message: string]

test.each<Mistake>([
  // A factory itself in place of what it makes.
  [
    'limits: [tokenBucket]',
    () => createLimiter({ limits: [tokenBucket as never] }),
    'createLimiter: limits[0]: options must be an object, got a function.',
  ],
  [
    'a ban of tokenBucket',
    () => ban(tokenBucket as never, { after: 1, within: '1m', for: '1m' }),
    'ban: policy must be a policy that is not a ban, got function tokenBucket. Write ban(slidingWindow({',
  ],
  [
    'store: redisStore',
    () => rateLimit({ ...enough, store: redisStore as never }),
    'store must be a store, got a function. Call it: redisStore(client).',
  ],
  // Another value in place of options, or of one option.
  [
    'limits: [tokenBucket(…)]',
    () => rateLimit({ limits: [policy as never] }),
    'rateLimit: limits[0]: options must be an options object, got a policy. Write { policy: … }.',
  ],
  [
    'limits: tokenBucket(…)',
    () => rateLimit({ limits: policy as never }),
    "Write limits: [{ name: 'burst', limit: 10, window: '1s' }].",
  ],
  [
    'limit: tokenBucket(…)',
    () => rateLimit({ limit: policy as never, window: '1m' }),
    'Write policy: … instead of limit.',
  ],
  [
    'concurrency: 5',
    () => rateLimit({ concurrency: 5 } as never),
    'there is no option "concurrency". Write policy: concurrency({ … }).',
  ],
  ['tokenBucket: { … }', () => rateLimit({ tokenBucket: {} } as never), 'Write policy: tokenBucket({ … }).'],
  [
    'capacity: 5',
    () => rateLimit({ capacity: 5, refill: 5, every: '1m' } as never),
    `there are no options "capacity" and "refill" and "every". Write ${bucket}`,
  ],
  ['redis: client', () => rateLimit({ ...enough, redis: {} } as never), 'Write store: redisStore(client)'],
  [
    'a limit without window',
    () => rateLimit({ limit: 5 } as never),
    "rateLimit: window must be given with limit, got undefined. Did you mean window: '1m'?",
  ],
  [
    'a candidate without window',
    () => rateLimit({ ...enough, candidate: candidateLimits({ limit: 5 } as never) }),
    'rateLimit: candidate: window must be given with limit',
  ],
  [
    'rateLimit(tokenBucket(…))',
    () => rateLimit(policy as never),
    'options must be an options object, got a policy. Write { policy: … }.',
  ],
  [
    'candidate: tokenBucket(…)',
    () => rateLimit({ ...enough, candidate: policy as never }),
    'rateLimit: candidate must be what candidateLimits returns, got an object. Write candidate: candidateLimits({',
  ],
  [
    'candidateLimits(tokenBucket(…))',
    () => rateLimit({ ...enough, candidate: candidateLimits(policy as never) }),
    'rateLimit: candidate: options must be an options object, got a policy.',
  ],
  [
    'candidate: { limit, window }',
    () => rateLimit({ ...enough, candidate: enough as never }),
    "Write candidate: candidateLimits({ limit: 50, window: '1m' }).",
  ],
  ['createLimiter(store)', () => createLimiter(memoryStore() as never), 'got a store. Write { store: … }.'],
  ['createLimiter(limiter)', () => createLimiter(createLimiter(enough) as never), 'got a limiter.'],
  [
    'options that are a promise',
    () => rateLimit(Promise.resolve(enough) as never),
    'got a promise. Await it first.',
  ],
  [
    'store: a URL',
    () => rateLimit({ ...enough, store: 'redis://127.0.0.1' as never }),
    'store must be a store, got a string. Use memoryStore(), or',
  ],
  [
    'redisStore(url)',
    () => redisStore('redis://127.0.0.1' as never),
    'got a string. Write redisStore(new Redis(url))',
  ],
  ['redisStore()', () => redisStore(undefined as never), 'got undefined. Write redisStore(new Redis(url))'],
  [
    'delay: 500',
    () => rateLimit({ ...enough, delay: 500 as never }),
    "rateLimit: delay must be what requestDelay returns, got a number. Write delay: requestDelay({ after: 5, by: '500ms' }).",
  ],
  [
    'a plain function as actualCost',
    () => rateLimit({ ...enough, actualCost: (() => 1) as never }),
    'rateLimit: actualCost must be what responseCost returns, got a function. Write actualCost: responseCost((req, res) => res.locals.tokens).',
  ],
  [
    'responseCost(500)',
    () => responseCost(500 as never),
    'responseCost: costOf must be a function, got a number. Write responseCost((req, res) => res.locals.tokens).',
  ],
  // A factory that a framework calls.
  [
    'register(rateLimit) of headgate in Fastify',
    () => rateLimit({ register() {}, addHook() {} } as never),
    "got a Fastify application. Register the plugin rateLimit from 'headgate/fastify'.",
  ],
  [
    'Bun.serve({ fetch: rateLimit })',
    () => ofFetch.rateLimit(new Request('http://localhost/') as never),
    'got a request. Mount or pass rateLimit(…), not rateLimit itself.',
  ],
])('%s is an error with the fix', (_what, write, message) => {
  expect(write).toThrow(TypeError)
  expect(write).toThrow(message)
})

test.each<[string, express.RequestHandler]>([
  ['rateLimit', rateLimit as never],
  ['loginGuard', loginGuard as never],
  ['createLimiter', createLimiter as never],
  ['rateLimitHook', rateLimitHook as never],
])('app.use(%s) in Express is an error with the fix at the first request', async (name, factory) => {
  const app = express().use(factory)
  const { text } = await request(app).get('/').expect(500)
  expect(text).toContain(`${name}: options must be an options object, got a request.`)
  expect(text).toContain(`Mount or pass ${name}(…), not ${name} itself.`)
})

test('app.use(rateLimit) in Koa is an error with the fix at the first request', async () => {
  const errors: Error[] = []
  const app = new Koa().use(ofKoa.rateLimit as never).on('error', (error) => errors.push(error))
  await request(app.callback()).get('/').expect(500)
  expect(errors[0]?.message).toContain('got a request. Mount or pass rateLimit(…), not rateLimit itself')
})

test('app.use(rateLimit) in Hono is an error with the fix at the first request', async () => {
  let message = ''
  const app = new Hono().use(ofHono.rateLimit as never).onError((error, c) => {
    message = error.message
    return c.text('failed', 500)
  })
  await app.request('/')
  expect(message).toContain('got a request. Mount or pass rateLimit(…), not rateLimit itself')
})

test('the plugin for Fastify, called with options, says how it is registered', async () => {
  const called = (fastifyPlugin as (options: unknown) => unknown)(enough)
  await expect(called).rejects.toThrow(
    'rateLimit: this is a Fastify plugin, but it was called without an application',
  )
})

/** A request of node:http. */
const req = { method: 'GET', headers: {}, socket: { remoteAddress: '192.0.2.1' } }

test.each<[string, object, string]>([
  ['key: byIp', { key: byIp }, 'Mount or pass byIp(…), not byIp itself.'],
  ['key: [byUser]', { key: [byUser] }, 'byUser: get must be a function, got an object. Write byUser(), or'],
  ['key: byField', { key: byField }, "Did you mean byField('username')?"],
  ['key: byHeader', { key: byHeader }, "Did you mean byHeader('x-api-key')?"],
  ['key: byRoute', { key: byRoute }, 'Call that function in the options, such as key: byIp().'],
  ['key: () => byIp()', { key: () => byIp() }, 'Call that function in the options, such as key: byIp().'],
])('%s is an error with the fix at the first charge', async (_what, options, message) => {
  await expect(createLimiter({ ...enough, ...options }).charge(req)).rejects.toThrow(message)
})

test.each<[string, (...args: never[]) => unknown]>([
  ['tokenBucket', tokenBucket],
  ['slidingWindow', slidingWindow],
  ['concurrency', concurrency],
])('policy: %s is an error with the fix at the first charge', async (name, factory) => {
  const options = { policy: factory } as never
  const message = `policy must be a policy, got ${name} itself. Write policy: ${name}({ … }).`
  await expect(createLimiter(options).charge(req)).rejects.toThrow(message)
  await expect(createLimiter({ limits: [options] }).charge(req)).rejects.toThrow(message)
})

test.each<[string, object, string]>([
  ['address: byIp', { field: 'username', address: byIp }, 'Mount or pass byIp(…), not byIp itself.'],
  ['account: byField', { account: byField }, 'byField: name must be the name of a body field'],
])('loginGuard with %s is an error with the fix at the first attempt', async (_what, options, message) => {
  const app = express().use(express.json(), loginGuard(options as never))
  const { text } = await request(app).post('/').send({ username: 'ada' }).expect(500)
  expect(text).toContain(message)
})

test.each<[string, headgate.KeyFunction<unknown>]>([
  ['byIp()', byIp()],
  ["byHeader('x-api-key')", byHeader('x-api-key')],
  ["byField('username')", byField('username')],
  ['byRoute()', byRoute()],
  ['byUser()', byUser()],
])(
  'a limiter by %s that is charged with strings throws, and counts no two of them together',
  async (_key, key) => {
    const limiter = createLimiter({ ...enough, key })
    for (const subject of ['ada', '', 7, undefined])
      await expect(limiter.charge(subject)).rejects.toThrow(
        /^by\w+: subject must be a request, got .*key: \(id\) => id\.$/,
      )
    await expect(createLimiter(enough).charge('ada')).rejects.toThrow(
      'byIp: subject must be a request, got a string.',
    )
  },
)
