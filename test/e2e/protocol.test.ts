import { once } from 'node:events'
import net from 'node:net'
import { memoryStore, rateLimit } from 'headgate'
import { lateStore } from '../support/fault-stores.js'
import { FRAMEWORKS, type Handler, sayHello } from '../support/frameworks.js'
import { closeServers, send, sendRaw, serve, times } from '../support/http.js'

afterEach(closeServers)

const onePerMinute = () => rateLimit({ limit: 1, window: '1m', store: memoryStore({ clock: () => 0 }) })

describe.each(FRAMEWORKS)('the middleware on $name', ({ app }) => {
  test('answers a denied HEAD with the headers and no body', async () => {
    const served = await serve(app(onePerMinute(), sayHello))
    await send(served, { method: 'HEAD' })
    const answer = await send(served, { method: 'HEAD' })
    expect(answer).toMatchObject({ status: 429, text: '', headers: { 'retry-after': '60' } })
  })

  test('answers a denied HTTP/1.0 client and closes the connection', async () => {
    const served = await serve(app(onePerMinute(), sayHello))
    expect(await sendRaw(served, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
    const answer = await sendRaw(served, 'GET / HTTP/1.0\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 429 /)
    expect(answer).toMatch(/\r\nRetry-After: 60\r\n/)
    expect(answer).toMatch(/\r\n\r\nToo many requests\. Try again in 60 seconds\.\n$/)
  })

  test('limits each of several requests in one packet on one connection', async () => {
    const served = await serve(app(onePerMinute(), sayHello))
    const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const answers = await sendRaw(served, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2) + last)
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 429', 'HTTP/1.1 429'])
  })

  test('outlives a client that hangs up while the store decides', async () => {
    const store = lateStore()
    const reached = jest.fn()
    const arrived = jest.fn()
    const first: Handler = (req, _res, next) => {
      arrived(req)
      next()
    }
    const last: Handler = (_req, res) => {
      reached()
      res.end()
    }
    const served = await serve(
      app(first, rateLimit({ limit: 1, window: '1m', store, timeout: 60_000 }), last),
    )
    const socket = net.connect(served.port, '127.0.0.1')
    const request = once(served.server, 'request')
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const [, res] = await request
    const closed = once(res, 'close')
    socket.destroy()
    await closed
    store.answerAll()
    await new Promise(setImmediate)
    expect(arrived).toHaveBeenCalledTimes(1)
    const next = send(served)
    await once(served.server, 'request')
    store.answerAll()
    expect((await next).status).toBe(429)
  })

  test('leaves a response alone that was sent before', async () => {
    const errors = jest.fn()
    const answerEarly: Handler = (_req, res, next) => {
      res.end('early')
      next()
    }
    const limiter = onePerMinute()
    const guarded: Handler = (req, res, next) => {
      limiter(req, res, (error) => {
        if (error) errors(error)
        next(error)
      })
    }
    const reached = jest.fn()
    const served = await serve(app(answerEarly, guarded, reached))
    for (const sent of times(2)) {
      const answer = await send(served, sent)
      expect(answer).toMatchObject({ status: 200, text: 'early' })
      expect(answer.headers).not.toHaveProperty('x-ratelimit-limit')
    }
    expect(errors).not.toHaveBeenCalled()
    expect(reached).toHaveBeenCalledTimes(1) // the second one was denied, and so went no further
  })

  test.each(['sync', 'async'])('leaves a response alone that skip has sent (%s)', async (how) => {
    const limiter = rateLimit({
      limit: 1,
      window: '1m',
      block: ['127.0.0.1'],
      skip: (_req, res) => {
        res.end('sent by skip')
        return how === 'async' ? Promise.resolve(false) : false
      },
    })
    const served = await serve(app(limiter, sayHello))
    expect(await send(served)).toMatchObject({ status: 200, text: 'sent by skip' })
  })
})
