import { once } from 'node:events'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { type OverloadGuardOptions, overloadGuard } from 'headgate/http'
import { EXPRESS_5, FRAMEWORKS, type Handler, NODE_HTTP } from '../support/frameworks.js'
import { gate, sendAndHangUp } from '../support/hang-up.js'
import { heldRequests } from '../support/held-requests.js'
import { closeServers } from '../support/http.js'
import { atMost, watch } from '../support/overload.js'
import { type Endpoint, HTTP1, PROTOCOLS, type Protocol } from '../support/protocols.js'

afterEach(closeServers)

type App = (typeof EXPRESS_5)['app']

async function serve(
  app: App,
  protocol: Protocol,
  options: OverloadGuardOptions = {},
  before: Handler[] = [],
) {
  const guard = overloadGuard({ ...atMost(2), ...options })
  const { handle, ...held } = heldRequests()
  const endpoint = await protocol.serve(app(...before, guard, handle))
  return { guard, endpoint, ...watch(guard), ...held }
}

const PLACES = [
  ...FRAMEWORKS.map(({ name, app }) => [`${name} over HTTP/1.1`, app, HTTP1] as const),
  ...PROTOCOLS.slice(1).map(
    (protocol) => [`node:http over ${protocol.name}`, NODE_HTTP.app, protocol] as const,
  ),
]

describe.each(PLACES)('%s', (_name, app, protocol) => {
  test('requests beyond the limit get 503, and each response that begins gives its place back', async () => {
    const { endpoint, arrived, answerAll, runs, guard } = await serve(app, protocol)
    const held = [endpoint.send({ path: '/wait' }), endpoint.send({ path: '/wait' })]
    await arrived(2)
    expect(guard.status()).toMatchObject({ running: 2, limit: 2, waiting: 0 })
    const denied = await endpoint.send({ headers: { accept: 'application/json' } })
    const { 'retry-after': retryAfter, 'content-type': type, 'cache-control': cache } = denied.headers
    expect({ status: denied.status, type, cache }).toEqual({
      status: 503,
      type: 'application/problem+json',
      cache: 'no-store',
    })
    expect(retryAfter).toMatch(/^[1-9]$/)
    expect(JSON.parse(denied.text)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      title: 'Service temporarily unavailable',
      status: 503,
      detail: expect.stringMatching(/^Try again in [1-9] seconds?\.$/),
      'violated-policies': ['overload'],
    })
    answerAll()
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200])
    await runs(0)
    expect((await endpoint.send()).status).toBe(200)
  })

  test('a stream has its place until its first byte', async () => {
    const { endpoint, arrived, waiting, runs } = await serve(app, protocol)
    const streamed = endpoint.send({ path: '/wait' })
    await arrived(1)
    const [, res] = waiting.pop() as Parameters<Handler>
    res.writeHead(200) // over HTTP/1, Node.js keeps the headers until the first piece of the body
    await runs(protocol.name === 'HTTP/2' ? 0 : 1)
    res.write('first')
    await runs(0)
    res.end(' last')
    expect((await streamed).text).toBe('first last')
  })

  test('a client that leaves gives its place back, also if its handler never responds', async () => {
    const { endpoint, arrived, runs, waiting } = await serve(app, protocol)
    const hangUp = endpoint.start({ path: '/wait' })
    await arrived(1)
    await runs(1)
    hangUp()
    await runs(0)
    waiting[0]?.[1].end('nobody reads this')
    await runs(0)
  })

  test('an error, and a response that the handler destroys, give the place back', async () => {
    const { endpoint, arrived, runs, waiting } = await serve(app, protocol)
    expect((await endpoint.send({ path: '/throw' })).status).toBe(500)
    await runs(0)
    endpoint.start({ path: '/wait' })
    await arrived(1)
    waiting[0]?.[1].destroy()
    await runs(0)
  })

  test('a request waits for a place, and one whose client leaves while it waits never reaches its handler', async () => {
    const { endpoint, arrived, waits, runs, waiting, answerAll } = await serve(app, protocol, {
      ...atMost(1),
      maxWait: '10s',
    })
    const first = endpoint.send({ path: '/wait' })
    await arrived(1)
    const hangUp = endpoint.start({ path: '/wait' })
    await waits(1)
    hangUp()
    await waits(0)
    const second = endpoint.send({ path: '/' })
    await waits(1)
    expect(waiting).toHaveLength(1)
    answerAll()
    expect([(await first).text, (await second).text]).toEqual(['late', 'hello'])
    await runs(0)
    expect(waiting).toEqual([])
  })

  test('a client that has left before takes no place, and its request reaches no handler', async () => {
    const { handler, open } = gate()
    const { endpoint, guard, waiting } = await serve(app, protocol, {}, [handler])
    const decisions: unknown[] = []
    for (const event of ['decision', 'denied'] as const)
      guard.limiter.events.on(event, (decision) => decisions.push(decision))
    await sendAndHangUp(endpoint, { path: '/wait' })
    expect(open()).toBe(1)
    expect(guard.status().running).toBe(0)
    expect(waiting).toEqual([])
    expect(decisions).toEqual([]) // the source of a store's failures would fire its alert
  })
})

/** Writes requests one after the other on one connection. */
function pipeline(endpoint: Endpoint, ...requests: string[]): net.Socket {
  const { port } = (endpoint.server as net.Server).address() as net.AddressInfo
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(requests.map((request) => `${request} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''))
  return socket
}

test('pipelined requests have places of their own, and give all of them back when their client leaves', async () => {
  const { endpoint, arrived, runs } = await serve(NODE_HTTP.app, HTTP1, atMost(9))
  const socket = pipeline(endpoint, 'GET /wait', 'GET /wait', 'GET /wait', 'HEAD /wait')
  await arrived(4)
  await runs(4)
  socket.resetAndDestroy()
  await runs(0)
})

test('a pipelined response that is written before its turn gives its place back then', async () => {
  const { endpoint, arrived, runs, waiting, answerAll } = await serve(NODE_HTTP.app, HTTP1, atMost(9))
  const socket = pipeline(endpoint, 'GET /wait', 'HEAD /wait')
  await arrived(2)
  waiting.pop()?.[1].end()
  await runs(1)
  answerAll()
  await runs(0)
  socket.end()
  expect(await text(socket)).toContain('late')
})

test('an upload has its place until its response begins', async () => {
  const { endpoint, runs, guard } = await serve(EXPRESS_5.app, HTTP1, {}, [])
  const { port } = (endpoint.server as net.Server).address() as net.AddressInfo
  const socket = net.connect(port, '127.0.0.1')
  socket.write('POST /wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab')
  await runs(1)
  expect(guard.status().running).toBe(1)
  socket.resetAndDestroy()
  await runs(0)
})

test('a guard that is mounted twice counts a request once, and two guards count it twice', async () => {
  const guard = overloadGuard(atMost(1))
  const other = overloadGuard(atMost(2))
  const { handle, arrived, answerAll } = heldRequests()
  const endpoint = await HTTP1.serve(EXPRESS_5.app(guard, guard, other, guard, handle))
  const held = endpoint.send({ path: '/wait' })
  await arrived(1)
  expect([guard, other].map((each) => each.status().running)).toEqual([1, 1])
  expect((await endpoint.send()).status).toBe(503)
  answerAll()
  expect((await held).status).toBe(200)
  await watch(guard).runs(0)
  await watch(other).runs(0)
})

test('the place of a request that an inner guard denies is given back', async () => {
  const outer = overloadGuard(atMost(5))
  const inner = overloadGuard(atMost(1))
  const { handle, arrived, answerAll } = heldRequests()
  const endpoint = await HTTP1.serve(EXPRESS_5.app(outer, inner, handle))
  const held = endpoint.send({ path: '/wait' })
  await arrived(1)
  expect((await endpoint.send()).status).toBe(503)
  await watch(outer).runs(1)
  answerAll()
  await held
  await watch(outer).runs(0)
})

test('a guard that closes denies those that wait', async () => {
  const { endpoint, arrived, waits, guard, answerAll } = await serve(EXPRESS_5.app, HTTP1, {
    ...atMost(1),
    maxWait: '10s',
  })
  const held = endpoint.send({ path: '/wait' })
  await arrived(1)
  const waiter = endpoint.send()
  await waits(1)
  await guard.close()
  expect((await waiter).status).toBe(503)
  expect((await endpoint.send()).status).toBe(503)
  answerAll()
  expect((await held).status).toBe(200)
  expect((await endpoint.send()).status).toBe(200)
})

test('a request waits for the longest wait only', async () => {
  const { endpoint, arrived, answerAll } = await serve(EXPRESS_5.app, HTTP1, {
    ...atMost(1),
    maxWait: '30ms',
  })
  const held = endpoint.send({ path: '/wait' })
  await arrived(1)
  expect((await endpoint.send()).status).toBe(503)
  answerAll()
  expect((await held).status).toBe(200)
})

test('a connection closes without a warning of many listeners', async () => {
  const warned = jest.fn()
  process.on('warning', warned)
  const { endpoint, arrived, runs, answerAll } = await serve(NODE_HTTP.app, HTTP1, atMost(50))
  const socket = pipeline(endpoint, ...Array.from({ length: 30 }, () => 'GET /wait'))
  await arrived(30)
  answerAll()
  await runs(0)
  socket.end()
  await once(socket.resume(), 'close')
  process.off('warning', warned)
  expect(warned).not.toHaveBeenCalled()
})
