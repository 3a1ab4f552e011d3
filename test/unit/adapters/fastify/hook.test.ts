import type { FastifyReply } from 'fastify'
import { byField, byIp, byRoute, byUser, type Decision } from 'headgate'
import { type RateLimitPluginOptions, rateLimit, rateLimitHook } from 'headgate/fastify'
import { promisingStore } from '../../../support/fault-stores.js'
import { closeServers } from '../../../support/http.js'
import { recordWarnings } from '../../../support/warnings.js'
import { ONE, start, startWith, TWO } from './applications.js'

const warnings = recordWarnings()
afterEach(closeServers)

test('the hook limits a single route, or a context, without the plugin', async () => {
  const limit = rateLimitHook(TWO)
  const { statuses } = await start((app) => {
    app.get('/', { onRequest: limit }, () => 'hello')
    app.get('/free', () => 'free')
    app.register(async (child) => {
      child.addHook('preHandler', limit)
      child.get('/child', () => 'child')
    })
  })
  expect(await statuses('/', '/child', '/', '/child', '/free')).toEqual([200, 200, 429, 429, 200])
  expect(await limit.limiter.peek({ ip: '127.0.0.1' } as never)).toMatchObject({ remaining: 0 })
})

test('the hook, beside the plugin, is another limit on the route', async () => {
  const { get } = await startWith(TWO, (app) => {
    app.get('/both', { preHandler: rateLimitHook({ ...ONE, name: 'both' }) }, () => 'both')
  })
  expect((await get('/both')).headers).toMatchObject({ 'x-ratelimit-limit': '1' })
  expect((await get('/both')).status).toBe(429)
})

test('a limiter in two hooks of a request charges it once', async () => {
  const limit = rateLimitHook(ONE)
  const { statuses } = await start((app) => {
    app.get('/', { onRequest: limit, preHandler: [limit] }, () => 'hello')
  })
  expect(await statuses('/', '/')).toEqual([200, 429])
})

test.each(['onRequest', 'preValidation', 'preHandler'] as const)('charges in the hook %s', async (hook) => {
  const seen: string[] = []
  const key = () => {
    seen.push('charged')
    return 'all'
  }
  const log = (name: string) => async () => void seen.push(name)
  await (
    await startWith({ ...TWO, key, hook }, (app) => {
      for (const name of ['onRequest', 'preValidation', 'preHandler'] as const) app.addHook(name, log(name))
    })
  ).get('/')
  const at = ['onRequest', 'preValidation', 'preHandler'].indexOf(hook)
  expect(seen[hook === 'preHandler' ? at + 1 : at]).toBe('charged') // behind the hooks that find a user
  expect(seen).toHaveLength(4)
})

test('the decision is at request.rateLimit, and headers are there for onSend hooks', async () => {
  let decision: Decision | undefined
  const seen: unknown[] = []
  const { get } = await startWith(ONE, (app) => {
    app.addHook('onSend', async (request, reply, payload) => {
      decision = request.rateLimit
      seen.push(reply.getHeader('X-RateLimit-Remaining'), reply.getHeader('Retry-After'), payload)
    })
  })
  await get('/')
  expect(decision).toMatchObject({ allowed: true, limit: 1, remaining: 0 })
  await get('/')
  expect(decision).toMatchObject({ allowed: false, limit: 1 })
  expect(seen).toEqual(['0', undefined, 'hello', '0', '60', 'Too many requests. Try again in 60 seconds.\n'])
})

test('an onSend hook may replace the body of a denial', async () => {
  const { get } = await startWith(ONE, (app) => {
    app.addHook('onSend', async (_request, _reply, payload) => String(payload).toUpperCase())
  })
  await get('/')
  expect(await get('/')).toMatchObject({ status: 429, text: expect.stringMatching(/^TOO MANY REQUESTS/) })
})

test('problem documents keep their media type, which has no charset', async () => {
  const { get } = await startWith(ONE)
  await get('/')
  const { headers } = await get({ headers: { accept: 'application/json' } })
  expect(headers['content-type']).toBe('application/problem+json')
})

describe('onDenied answers', () => {
  const text = ({ retryAfterMs }: Decision) => `wait ${retryAfterMs > 0}`
  test.each<[string, NonNullable<RateLimitPluginOptions['onDenied']>]>([
    ['by reply.send', (_request, reply, decision) => void reply.code(420).send(text(decision))],
    ['and returns the reply', (_request, reply, decision) => reply.code(420).send(text(decision))],
    [
      'later',
      async (_request, reply, decision): Promise<FastifyReply> => reply.code(420).send(text(decision)),
    ],
    [
      'by what it returns',
      (_request, reply, decision) => {
        reply.code(420)
        return text(decision)
      },
    ],
    [
      'by what it resolves with',
      async (_request, reply, decision) => {
        reply.code(420)
        return text(decision)
      },
    ],
    [
      'by reply.send, whatever it resolves with',
      async (_request, reply, decision) => {
        reply.code(420).send(text(decision))
        return 'not sent'
      },
    ],
    [
      'by an error for the error handler',
      (_request, _reply, decision) => {
        throw Object.assign(new Error(text(decision)), { statusCode: 420 })
      },
    ],
  ])('%s', async (_how, onDenied) => {
    const { get } = await startWith({ ...ONE, onDenied }, (app) => {
      app.setErrorHandler<Error & { statusCode: number }>((error, _request, reply) => {
        reply.code(error.statusCode).send(error.message)
      })
    })
    await get('/')
    expect(await get('/')).toMatchObject({
      status: 420,
      text: 'wait true',
      headers: { 'retry-after': '60', 'x-ratelimit-remaining': '0' },
    })
  })
})

test('onDenied may return an object, which is sent as JSON', async () => {
  const { get } = await startWith({ ...ONE, onDenied: () => ({ error: 'slow down' }) })
  await get('/')
  expect(JSON.parse((await get('/')).text)).toEqual({ error: 'slow down' })
})

test('a denial that an async onDenied leaves unanswered is answered as without it', async () => {
  const logged: number[] = []
  const { get } = await startWith({
    ...ONE,
    onDenied: async (_request, _reply, { limit }) => void logged.push(limit),
  })
  await get('/')
  const { status, text, headers } = await get('/')
  expect({ status, text }).toEqual({ status: 429, text: 'Too many requests. Try again in 60 seconds.\n' })
  expect(headers['retry-after']).toBe('60')
  expect(logged).toEqual([1])
})

test('onDenied may answer once it has returned', async () => {
  const { get } = await startWith({
    ...ONE,
    onDenied: (_request, reply) => void setImmediate(() => reply.code(420).send('later')),
  })
  await get('/')
  expect(await get('/')).toMatchObject({ status: 420, text: 'later' })
})

test.each<[string, () => unknown, string]>([
  ['what a function throws', fail, 'no tenant'],
  ['what a promise rejects with', async () => fail(), 'no tenant'],
  ['what is no error', () => Promise.reject(null), 'rateLimit: an option function threw null'],
])('the error handler gets %s', async (_what, key, message) => {
  const { get } = await startWith({ ...ONE, key })
  const { status, text } = await get('/')
  expect({ status, message: JSON.parse(text).message }).toEqual({ status: 500, message })
})

function fail(): never {
  throw new Error('no tenant')
}

test('a store that answers later decides, and refunds by outcome reach it', async () => {
  const store = promisingStore()
  const { get, statuses } = await startWith({ ...ONE, store, count: 'failed' }, (app) => {
    app.get('/status', async (request, reply) => reply.code(Number(request.headers['x-status'])).send('done'))
  })
  const answered = (status: number) => ({ path: '/status', headers: { 'x-status': status } })
  expect(await statuses(answered(200), answered(302), answered(404), answered(200))).toEqual([
    200, 302, 404, 429,
  ])
  expect(store.refunds).toHaveLength(2)
  expect((await get('/status')).status).toBe(429)
})

test('in a shared store, limiters of routes are named after them', async () => {
  const store = promisingStore()
  const names = async (name: string | undefined) => {
    store.charges.length = 0
    const long = `/${'long'.repeat(20)}`
    const urls = ['/', '/login', '/users/:id', '/users/-id', '/a_b', '/a/b', long, `${long}er`]
    const { get } = await start(async (app) => {
      await app.register(rateLimit, { ...TWO, ...(name && { name }), store, prefix: `p${name}` })
      for (const url of urls) app.post(url, { config: { rateLimit: ONE } }, () => '')
      app.get('/own', { config: { rateLimit: { name: 'mine' } } }, () => '')
    })
    for (const path of urls) await get({ method: 'POST', path })
    await get('/own')
    return store.charges.map(([part]) => part?.key.replace(/^[^:]*:3:|:.*$/g, ''))
  }
  const unnamed = await names(undefined)
  expect(unnamed).toEqual([
    'POST.',
    'POST.login',
    expect.stringMatching(/^POST\.users\.id-[\da-f]{8}$/),
    'POST.users.-id',
    expect.stringMatching(/^POST\.a_b-[\da-f]{8}$/),
    'POST.a.b',
    expect.stringMatching(/^POST\.(long){12}lo-[\da-f]{8}$/),
    expect.stringMatching(/^POST\.(long){12}lo-[\da-f]{8}$/),
    'mine',
  ])
  expect(new Set(unnamed).size).toBe(unnamed.length)
  expect((await names('api')).slice(0, 2)).toEqual(['api.POST.', 'api.POST.login'])
})

test('in a shared store, routes that only their constraints tell apart have limiters of their own', async () => {
  const store = promisingStore()
  const { get } = await start(async (app) => {
    await app.register(rateLimit, { ...TWO, store })
    for (const version of ['1.0.0', '2.0.0'])
      app.get('/', { constraints: { version }, config: { rateLimit: ONE } }, () => version)
  })
  for (const version of ['1.0.0', '2.0.0']) await get({ path: '/', headers: { 'accept-version': version } })
  const names = store.charges.map(([part]) => part?.key.replace(/^[^:]*:3:|:.*$/g, ''))
  expect(names).toEqual([expect.stringMatching(/^GET\./), expect.stringMatching(/^GET\./)])
  expect(names[0]).not.toBe(names[1])
})

describe('keys', () => {
  test('the address is the one that trustProxy of Fastify gives', async () => {
    const { statuses } = await start(
      async (app) => {
        app.addHook('onRequest', rateLimitHook(ONE))
        app.get('/', () => 'hello')
      },
      { trustProxy: 'loopback' },
    )
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
    const sent = ['192.0.2.1', '192.0.2.2', '192.0.2.1', '6.6.6.6, 192.0.2.2'].map(from)
    expect(await statuses(...sent)).toEqual([200, 200, 429, 429])
  })

  test('forwarding headers where no proxy is trusted are reported', async () => {
    const { statuses } = await startWith(ONE)
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
    expect(await statuses(from('192.0.2.1'), from('192.0.2.2'))).toEqual([200, 429])
    expect(warnings()).toEqual(['HEADGATE_UNTRUSTED_PROXY'])
  })

  test('byUser reads request.user, which hooks have set before preHandler', async () => {
    const { statuses } = await start(async (app) => {
      app.decorateRequest('user')
      app.addHook('onRequest', async (request) => {
        Object.assign(request, { user: { id: request.headers['x-user'] } })
      })
      app.get('/', { preHandler: rateLimitHook({ ...ONE, key: byUser() }) }, () => 'hello')
    })
    const by = (user: string) => ({ headers: { 'x-user': user } })
    expect(await statuses(by('ada'), by('bob'), by('ada'))).toEqual([200, 200, 429])
  })

  test('byField reads the body before it is validated', async () => {
    const { statuses } = await startWith({ ...ONE, key: byField('name'), hook: 'preValidation' }, (app) => {
      app.post('/', () => 'hello')
    })
    const post = (name: string) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
    expect(await statuses(post('ada'), post('bob'), post('Ada'))).toEqual([200, 200, 429])
  })

  test('byRoute reads the pattern of the route, and not the path', async () => {
    const { statuses } = await startWith({ ...ONE, key: [byIp(), byRoute()] }, (app) => {
      app.register(
        async (child) => {
          child.get('/users/:id', () => 'user')
          child.get('/users/:id/posts', () => 'posts')
        },
        { prefix: '/v1' },
      )
    })
    const paths = ['/v1/users/1', '/v1/users/2', '/v1/users/1/posts', '/', '/none', '/never']
    expect(await statuses(...paths)).toEqual([200, 429, 200, 200, 404, 429])
  })
})

test('rateLimitHook refuses wrong options', () => {
  expect(() => rateLimitHook({ limit: 1 } as never)).toThrow(
    /^rateLimitHook: window must be given with limit/,
  )
  expect(() => rateLimitHook({ ...ONE, hook: 'preHandler' } as never)).toThrow(/there is no option "hook"/)
})
