import { once } from 'node:events'
import type { Http2ServerResponse } from 'node:http2'
import net from 'node:net'
import { overloadGuard } from 'headgate/http'
import { EXPRESS_5, type Handler, NODE_HTTP, sayHello } from '../support/frameworks.js'
import { heldRequests } from '../support/held-requests.js'
import { closeServers } from '../support/http.js'
import { atMost, watch } from '../support/overload.js'
import { type Endpoint, HTTP1, HTTP2 } from '../support/protocols.js'

afterEach(closeServers)

type Response = Parameters<Handler>[1]

const STEPS: readonly [string, (res: Response) => unknown, number][] = [
  ['setHeader', (res) => res.setHeader('a', 'b'), 1],
  ['writeHead', (res) => res.writeHead(200), 1],
  ['writeEarlyHints', (res) => res.writeEarlyHints({ link: '</a.css>; rel=preload' }), 1],
  ['writeContinue', (res) => res.writeContinue(), 1],
  ['writeProcessing', (res) => res.writeProcessing(), 1],
  ['flushHeaders', (res) => res.flushHeaders(), 0],
  ['writeHead and flushHeaders', (res) => res.writeHead(200).flushHeaders(), 0],
  ['write', (res) => res.write('a'), 0],
  ['writeHead and write', (res) => res.writeHead(200).write('a'), 0],
  ['end', (res) => res.end('a'), 0],
  ['end without a body', (res) => res.end(), 0],
  ['204', (res) => res.writeHead(204).end(), 0],
  ['304', (res) => res.writeHead(304).end(), 0],
]

/** Connects, and sends a request line with its headers. */
function connectTo({ server }: Endpoint): net.Socket {
  const { port } = (server as net.Server).address() as net.AddressInfo
  return net.connect(port, '127.0.0.1').on('error', () => undefined)
}

const requestOf = (method: string, path = '/') => `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

describe.each([NODE_HTTP, EXPRESS_5])('$name', ({ app }) => {
  test.each(['GET', 'HEAD'])('what begins the response to %s, and what does not', async (method) => {
    const guard = overloadGuard(atMost(1))
    const seen: unknown[] = []
    const endpoint = await HTTP1.serve(
      app(guard, (req, res) => {
        const [name, step] = STEPS[Number(req.url?.slice(1))] as (typeof STEPS)[number]
        if (method === 'GET' || !name.endsWith('write')) step(res)
        if (method === 'HEAD' && name.endsWith('write')) res.end() // HEAD sends nothing before its end
        const { running } = guard.status()
        if (!res.writableEnded) res.end()
        seen.push([name, running, guard.status().running])
      }),
    )
    for (const path of STEPS.keys()) await endpoint.send({ method, path: `/${path}` })
    expect(seen).toEqual(STEPS.map(([name, , running]) => [name, running, 0]))
  })

  test('the requests of a kept connection have a place each', async () => {
    const guard = overloadGuard(atMost(1))
    const { handle, arrived, answerAll } = heldRequests()
    const { runs } = watch(guard)
    const socket = connectTo(await HTTP1.serve(app(guard, handle)))
    for (let i = 0; i < 3; i++) {
      socket.write(requestOf('GET', '/wait'))
      await arrived(1)
      expect(guard.status().running).toBe(1)
      answerAll()
      expect(guard.status().running).toBe(0)
      await once(socket, 'data')
    }
    socket.write(requestOf('GET', '/wait'))
    await arrived(1)
    socket.resetAndDestroy()
    await runs(0)
  })

  test.each(['before', 'after'])(
    'a body that middleware holds back %s the guard has no first byte',
    async (where) => {
      const guard = overloadGuard(atMost(1))
      const held: (() => void)[] = []
      const holdBack: Handler = (_req, res, next) => {
        const end = res.end.bind(res) as (...args: unknown[]) => Response
        const endLater = (...args: unknown[]) => {
          held.push(() => end(...args))
          return res
        }
        Object.assign(res, { end: endLater })
        next()
      }
      const endpoint = await HTTP1.serve(
        where === 'before' ? app(holdBack, guard, sayHello) : app(guard, holdBack, sayHello),
      )
      const answer = endpoint.send()
      await watch(guard).runs(1)
      held[0]?.()
      expect(guard.status().running).toBe(0)
      expect((await answer).text).toBe('hello')
    },
  )

  test('a response that began before the guard gives its place back with its next byte, or at its end', async () => {
    const guard = overloadGuard(atMost(1))
    const running: number[] = []
    const begin: Handler = (req, res, next) => {
      if (req.url === '/ended') res.end('over')
      else res.write('first')
      next()
    }
    const endpoint = await HTTP1.serve(
      app(begin, guard, (_req, res) => {
        running.push(guard.status().running)
        if (!res.writableEnded) res.end(' last')
        running.push(guard.status().running)
      }),
    )
    expect((await endpoint.send()).text).toBe('first last')
    expect((await endpoint.send({ path: '/ended' })).text).toBe('over')
    await watch(guard).runs(0)
    expect(running.slice(0, 2)).toEqual([1, 0])
  })

  test('a request that waits and is responded to by a time-out is no longer in the queue', async () => {
    const guard = overloadGuard({ ...atMost(1), maxWait: '10s' })
    const { handle, arrived, answerAll } = heldRequests()
    const responses: Response[] = []
    const remember: Handler = (_req, res, next) => {
      responses.push(res)
      next()
    }
    const handled = jest.fn(handle)
    const endpoint = await HTTP1.serve(app(remember, guard, handled))
    const first = endpoint.send({ path: '/wait' })
    await arrived(1)
    const late = endpoint.send()
    await watch(guard).waits(1)
    responses[1]?.writeHead(503).end('time-out')
    expect(guard.status()).toMatchObject({ waiting: 0, running: 1 })
    answerAll()
    expect([(await first).text, (await late).text]).toEqual(['late', 'time-out'])
    expect(handled).toHaveBeenCalledTimes(1)
    expect(guard.status().running).toBe(0)
  })

  test('a routeClass that throws neither breaks the response nor keeps the place', async () => {
    const guard = overloadGuard({
      ...atMost(1),
      routeClass() {
        throw new Error('no class')
      },
    })
    const endpoint = await HTTP1.serve(app(guard, sayHello))
    const answers = [await endpoint.send(), await endpoint.send()]
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [200, 'hello'],
      [200, 'hello'],
    ])
    expect(guard.status().running).toBe(0)
  })
})

/** Over HTTP/2, Node.js sends the headers in `writeHead`, so server-sent events begin there. */
const ON_HTTP2 = new Map([
  ['writeHead', 0],
  ['respond', 0],
])

const HTTP2_STEPS: typeof STEPS = [
  ...STEPS.filter(([name]) => name !== 'writeProcessing'), // which HTTP/2 does not have
  ['respond', (res) => (res as unknown as Http2ServerResponse).stream.respond({ ':status': 200 }), 0],
]

test('what begins a response over HTTP/2: also its headers', async () => {
  const guard = overloadGuard(atMost(1))
  const seen: unknown[] = []
  const endpoint = await HTTP2.serve(
    NODE_HTTP.app(guard, (req, res) => {
      const [name, step] = HTTP2_STEPS[Number(req.url?.slice(1))] as (typeof STEPS)[number]
      step(res)
      const { running } = guard.status()
      if (!res.writableEnded) res.end()
      seen.push([name, running, guard.status().running])
    }),
  )
  for (const path of HTTP2_STEPS.keys()) await endpoint.send({ path: `/${path}` })
  expect(seen).toEqual(HTTP2_STEPS.map(([name, , running]) => [name, ON_HTTP2.get(name) ?? running, 0]))
})

test('the status of a response over HTTP/2 is known when it begins', async () => {
  const statuses: number[] = []
  const guard = overloadGuard({ routeClass: (_req, res) => `${statuses.push(res.statusCode)}` })
  const endpoint = await HTTP2.serve(NODE_HTTP.app(guard, (_req, res) => res.writeHead(404).end()))
  await endpoint.send()
  expect(statuses).toEqual([404])
})

test('an upgrade has its place until the first bytes of its socket, or until that closes', async () => {
  const guard = overloadGuard(atMost(1))
  const { runs } = watch(guard)
  const sockets: net.Socket[] = []
  const endpoint = await HTTP1.serve(NODE_HTTP.app(sayHello))
  endpoint.server.on('upgrade', (req, socket: net.Socket) => {
    socket.on('error', () => undefined)
    guard(req, {} as never, () => void sockets.push(socket))
  })
  const upgrade = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  const first = connectTo(endpoint)
  first.write(upgrade)
  await runs(1)
  sockets[0]?.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  expect(guard.status().running).toBe(0)
  first.destroy()
  const second = connectTo(endpoint)
  second.write(upgrade)
  await runs(1)
  second.resetAndDestroy()
  await runs(0)
})
