import { overloadGuard } from 'headgate/http'
import { type EXPRESS_5, FRAMEWORKS, type Handler, NODE_HTTP } from '../support/frameworks.js'
import { closeServers } from '../support/http.js'
import { type Endpoint, HTTP1, PROTOCOLS, type Protocol } from '../support/protocols.js'
import { until } from '../support/servers/wait.js'

afterEach(closeServers)

/** Requests that a handler has not answered yet. */
function handlers() {
  const waiting: Parameters<Handler>[] = []
  const handle: Handler = (req, res, next) => {
    if (req.url === '/throw') return next(new Error('handler failed'))
    if (req.url === '/wait') waiting.push([req, res, next])
    else res.end('hello')
  }
  return {
    handle,
    waiting,
    arrived: (count: number) =>
      until('requests have arrived', () => waiting.length === count, { everyMs: 1 }),
    answerAll() {
      for (const [, res] of waiting.splice(0)) res.end('late')
    },
  }
}

const two = { minLimit: 2, maxLimit: 2, maxWait: 0 } as const

async function serve(app: (typeof EXPRESS_5)['app'], protocol: Protocol, options: object = {}) {
  const guard = overloadGuard({ ...two, ...options })
  const { handle, ...rest } = handlers()
  const endpoint = await protocol.serve(app(guard, handle))
  const runs = (count: number) =>
    until(`${count} run`, () => guard.status().running === count, { everyMs: 1 })
  return { guard, endpoint, runs, ...rest }
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
    expect(guard.status()).toMatchObject({ running: 2, limit: 2 })
    const { status, headers, text } = await endpoint.send({ headers: { accept: 'application/json' } })
    expect({ status, type: headers['content-type'], cache: headers['cache-control'] }).toEqual({
      status: 503,
      type: 'application/problem+json',
      cache: 'no-store',
    })
    expect(headers['retry-after']).toMatch(/^[1-9]$/)
    expect(JSON.parse(text)).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      status: 503,
      'violated-policies': ['overload'],
    })
    answerAll()
    expect((await Promise.all(held)).map((answer) => answer.status)).toEqual([200, 200])
    await runs(0)
    expect((await endpoint.send()).status).toBe(200)
  })
})
