import { type EventEmitter, once } from 'node:events'
import net from 'node:net'
import {
  byIp,
  concurrency,
  type Decision,
  type RateLimitOptions,
  rateLimit,
  requestDelay,
  tokenBucket,
} from 'headgate'
import { EXPRESS_5, FRAMEWORKS, type Handler, NODE_HTTP } from '../support/frameworks.js'
import { lateAnswer, sendAndHangUp } from '../support/hang-up.js'
import { heldRequests } from '../support/held-requests.js'
import { closeServers } from '../support/http.js'
import { type Endpoint, HTTP1, PROTOCOLS, type Protocol } from '../support/protocols.js'
import { until } from '../support/servers/wait.js'

const two = concurrency({ limit: 2, ttl: '10s' })

afterEach(closeServers)

async function serve(
  app: (typeof EXPRESS_5)['app'],
  protocol: Protocol,
  options: Partial<RateLimitOptions> = {},
) {
  const guard = rateLimit({ policy: two, key: () => 'all', ...options })
  const { handle, ...rest } = heldRequests()
  const endpoint = await protocol.serve(app(guard, handle))
  const free = async () => (await guard.limiter.peek({ ip: '192.0.2.7' } as never)).remaining
  const isFree = (count: number) =>
    until(`${count} are free`, async () => (await free()) === count, { everyMs: 1 })
  return { guard, endpoint, free, isFree, ...rest }
}

const PLACES = [
  ...FRAMEWORKS.map(({ name, app }) => [`${name} over HTTP/1.1`, app, HTTP1] as const),
  ...PROTOCOLS.slice(1).map(
    (protocol) => [`node:http over ${protocol.name}`, NODE_HTTP.app, protocol] as const,
  ),
]

describe.each(PLACES)('%s', (_name, app, protocol) => {
  test('requests in flight are limited, and each response that ends makes room', async () => {
    const { endpoint, arrived, answerAll, isFree } = await serve(app, protocol, { headers: 'both' })
    const held = [endpoint.send({ path: '/wait' }), endpoint.send({ path: '/wait' })]
    await arrived(2)
    const { status, headers } = await endpoint.send()
    expect(status).toBe(429)
    expect(headers).toMatchObject({
      'retry-after': '1',
      'x-ratelimit-limit': '2',
      'ratelimit-policy': '"2-at-once";q=2;qu="concurrent-requests"',
      ratelimit: '"2-at-once";r=0',
    })
    expect(headers['x-ratelimit-reset']).toBeUndefined()
    answerAll()
    expect((await Promise.all(held)).map((answer) => answer.status)).toEqual([200, 200])
    await isFree(2)
    expect((await endpoint.send()).status).toBe(200)
  })

  test('clients that hang up make no room until their handlers end or destroy the response', async () => {
    const { endpoint, arrived, free, isFree, waiting, answerAll } = await serve(app, protocol)
    const hangUps = [endpoint.start({ path: '/wait' }), endpoint.start({ path: '/wait' })]
    await arrived(2)
    const closed = waiting.map(([, res]) => once(res, 'close'))
    for (const hangUp of hangUps) hangUp()
    await Promise.all(closed)
    expect(await free()).toBe(0)
    expect((await endpoint.send()).status).toBe(429)
    waiting.shift()?.[1].destroy()
    await isFree(1)
    answerAll()
    await isFree(2)
  })

  test.each<[string, Error | undefined]>([
    ['its handler breaks off', undefined],
    ['its handler destroys with an error', new Error('no')],
  ])('a response that %s makes room', async (_how, error) => {
    const { endpoint, arrived, waiting, isFree } = await serve(app, protocol)
    endpoint.start({ path: '/wait' })
    await arrived(1)
    const [, res] = waiting[0] as Parameters<Handler>
    res.write('a part')
    ;(res as NodeJS.WritableStream & { stream?: EventEmitter }).stream?.on('error', () => undefined)
    res.destroy(error)
    await isFree(2)
  })

  test('an error in the handler makes room', async () => {
    const { endpoint, isFree } = await serve(app, protocol)
    for (let i = 0; i < 3; i++) expect((await endpoint.send({ path: '/throw' })).status).toBe(500)
    await isFree(2)
  })

  test('a client that is gone before the decision makes room at once, and reaches no handler', async () => {
    const { release, give } = lateAnswer()
    const { endpoint, isFree, guard, waiting } = await serve(app, protocol, { policy: () => give(two) })
    const decisions: Decision[] = []
    guard.limiter.events.on('decision', (decision) => decisions.push(decision))
    await sendAndHangUp(endpoint, { path: '/wait' })
    release()
    await until('the request is decided', () => decisions.length > 0)
    expect(decisions).toMatchObject([{ allowed: true, remaining: 1 }])
    await isFree(2)
    expect(waiting).toEqual([])
  })
})

test('an async handler of Express that rejects makes room', async () => {
  const guard = rateLimit({ policy: two, key: () => 'all' })
  const endpoint = await HTTP1.serve(EXPRESS_5.app(guard, async () => Promise.reject(new Error('no'))))
  for (let i = 0; i < 3; i++) expect((await endpoint.send()).status).toBe(500)
})

/** Writes requests one after the other without reading an answer. Returns a function that hangs up. */
function pipeline(endpoint: Endpoint, count: number): () => void {
  const { port } = (endpoint.server as net.Server).address() as net.AddressInfo
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('POST /wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nab'.repeat(count))
  return () => socket.resetAndDestroy()
}

test('pipelined requests make room, too, when their client hangs up or their turn comes', async () => {
  const policy = concurrency({ limit: 20, ttl: '10s' })
  const { endpoint, arrived, waiting, free, isFree, answerAll } = await serve(NODE_HTTP.app, HTTP1, {
    policy,
  })
  const hangUp = pipeline(endpoint, 12)
  await arrived(12)
  for (const [req] of waiting) req.resume()
  expect(await free()).toBe(8)
  waiting.pop()?.[1].end('behind the others')
  hangUp()
  await isFree(9) // the one that had ended
  answerAll()
  await isFree(20)
  const hangUpLater = pipeline(endpoint, 12)
  await arrived(12)
  answerAll()
  await isFree(20)
  hangUpLater()
})

test('together with a rate it is all or nothing, and a refund does not touch it', async () => {
  const policy = tokenBucket({ capacity: 3, refill: 3, every: '1h', name: 'rate' })
  const { endpoint, arrived, answerAll, isFree } = await serve(EXPRESS_5.app, HTTP1, {
    policy: undefined as never,
    key: undefined as never,
    limits: [
      { policy: two, key: () => 'all' },
      { policy, key: byIp() },
    ],
    headers: 'draft',
    count: 'failed',
  })
  const quota = async () => (await endpoint.send()).headers.ratelimit
  expect(await quota()).toBe('"2-at-once";r=1, "rate";r=2;t=1200')
  await isFree(2)
  expect(await quota()).toBe('"2-at-once";r=1, "rate";r=2;t=1200') // a success is refunded
  await isFree(2)
  const held = [endpoint.send({ path: '/wait' }), endpoint.send({ path: '/wait' })]
  await arrived(2)
  expect((await endpoint.send()).headers.ratelimit).toBe('"2-at-once";r=0, "rate";r=1;t=1200')
  answerAll()
  await Promise.all(held)
  await isFree(2)
})

test('in report mode all requests pass, and those over the limit hold nothing', async () => {
  const { endpoint, arrived, answerAll, free, isFree } = await serve(EXPRESS_5.app, HTTP1, { mode: 'report' })
  const held = [1, 2, 3].map(() => endpoint.send({ path: '/wait' }))
  await arrived(3)
  expect(await free()).toBe(0)
  answerAll()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200])
  await isFree(2)
})

test('units of a policy function are held and released beside delay, and not delayed', async () => {
  const options = { policy: () => two, delay: requestDelay({ after: 0, by: '10s', max: '10s' }) } as const
  const { endpoint, arrived, answerAll, isFree } = await serve(EXPRESS_5.app, HTTP1, options)
  const held = [endpoint.send({ path: '/wait' }), endpoint.send({ path: '/wait' })]
  await arrived(2)
  expect(await endpoint.send()).toMatchObject({ status: 429 })
  answerAll()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200])
  await isFree(2)
})
