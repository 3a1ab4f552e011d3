import { once } from 'node:events'
import WebSocket from 'ws'
import { type Answer, type Sent, send } from '../../support/http.js'
import { until } from '../../support/servers/wait.js'
import { adapterCases } from '../adapters/cases.js'
import { loginCases } from '../adapters/login-cases.js'
import { overloadCases } from '../adapters/overload-cases.js'
import { type NestServer, startServer } from './start-server.js'

let server: NestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

for (const [platform, key] of [
  ['Express', 'express'],
  ['Fastify', 'fastify'],
] as const) {
  const adapter = {
    name: `Nest on ${platform}`,
    start: async () => ({ ...server[key], close: async () => undefined }),
  }
  adapterCases(adapter)
  loginCases(adapter)
  overloadCases(adapter)

  test(`no cache may store a denial of ${adapter.name}, whatever earlier middleware says`, async () => {
    const target = { port: server[key].port, host: '::1' }
    const login = { method: 'POST', path: '/guarded' }
    for (const [sent, status] of [
      [{ path: '/blocked' }, 403],
      [{ path: '/closed' }, 503],
      [login, 400],
    ] as const) {
      const answer = await send(target, sent)
      expect(answer).toMatchObject({ status, headers: { 'cache-control': 'no-store' } })
      for (const name of ['cdn-cache-control', 'etag']) expect(answer.headers).not.toHaveProperty(name)
    }
    const { headers } = await send(target, { path: '/exempt' })
    expect(headers).toMatchObject({ 'cache-control': 'public, max-age=300', etag: '"1"' })
  })
}

const get = (application: 'global' | 'local', path: string, headers = {}): Promise<Answer> =>
  send({ port: server[application] }, { path, headers })

async function statusesOf(...paths: readonly string[]): Promise<number[]> {
  const statuses: number[] = []
  for (const path of paths) statuses.push((await get('global', path)).status)
  return statuses
}

describe('over HTTP', () => {
  test('the options of the module limit all handlers together', async () => {
    const answers = [await get('global', '/shared/first'), await get('global', '/shared/second')]
    expect(answers.map(({ text }) => JSON.parse(text))).toEqual([{ remaining: 2 }, { remaining: 1 }])
    expect(await statusesOf('/shared/first', '/shared/second')).toEqual([200, 429])
  })

  test('@SkipRateLimit() exempts a handler', async () => {
    const { status, headers, text } = await get('global', '/shared/skipped')
    expect({ status, text }).toEqual({ status: 200, text: '{"isLimited":false}' })
    expect(headers).not.toHaveProperty('x-ratelimit-limit')
  })

  test('@RateLimit() limits a class and its subclasses, and a handler apart', async () => {
    const paths = ['/own/first', '/inherited/second', '/own/second', '/own/handler', '/own/handler']
    expect(await statusesOf(...paths, '/own/skipped')).toEqual([200, 200, 429, 200, 429, 200])
  })

  test('RateLimiters gives the limiters by their names', async () => {
    await statusesOf('/own/handler')
    const { text } = await get('global', '/limiters/forget')
    expect(JSON.parse(text)).toEqual({ hasDefault: true, areTwo: true, nobody: null })
    expect(await statusesOf('/own/handler', '/own/handler')).toEqual([200, 429])
  })

  test('byRoute() limits each handler by itself', async () => {
    expect(await statusesOf('/routes/first', '/routes/second', '/routes/first')).toEqual([200, 200, 429])
  })

  test('a filter that catches everything answers by the exception that the options return', async () => {
    const answers = [await get('global', '/filtered/exception'), await get('global', '/filtered/exception')]
    expect(answers.map(({ status }) => status)).toEqual([200, 429])
    expect(answers[1]).toMatchObject({
      text: '{"status":429,"message":"Too Many Requests"}',
      headers: { 'retry-after': '60', 'cache-control': 'no-store' },
    })
  })

  test('with global: false the guard stands after one that authenticates, and nowhere else', async () => {
    const users = ['ada', 'ada', 'bob']
    const statuses: number[] = []
    for (const user of users) statuses.push((await get('local', '/users', { 'x-user': user })).status)
    expect(statuses).toEqual([200, 429, 200])
    const { headers } = await get('local', '/free')
    expect(headers).not.toHaveProperty('x-ratelimit-limit')
  })
})

test('a denial caused by requests without a response says to retry in a second', async () => {
  const held = [1, 2, 3].map(() => get('local', '/undecided/wait'))
  const denial = await Promise.race(held)
  expect(denial).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
  expect(denial.text).toBe('Too many requests. Try again in 1 second.\n')
  let released = 0
  await until('the others respond', async () => {
    released += Number((await get('local', '/undecided/release')).text)
    return released === 2
  })
  expect((await Promise.all(held)).filter(({ status }) => status === 200)).toHaveLength(2)
})

describe('over GraphQL', () => {
  async function query(source: string, headers = {}) {
    const sent: Sent = {
      method: 'POST',
      path: '/graphql',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: source }),
    }
    const answer = await send({ port: server.calls }, sent)
    return { ...answer, ...JSON.parse(answer.text) }
  }

  test('each call of a field is charged, and one that is denied is an error', async () => {
    const answer = await query('{ a: remaining b: remaining c: remaining free }')
    expect(answer.errors).toEqual([
      {
        message: 'Too Many Requests',
        locations: expect.anything(),
        path: ['c'],
        extensions: {
          code: 'TOO_MANY_REQUESTS',
          retryAfterMs: 30_000,
          violatedPolicies: ['2-in-1min'],
        },
      },
    ])
    expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '2', 'retry-after': '30' })
    expect((await query('{ free }')).data).toEqual({ free: 'free' })
  })

  test('byField() reads the arguments of a field, and count does not refund its calls', async () => {
    const login = (alias: string, name: string) => `${alias}: login(username: "${name}")`
    const logins = [login('a', 'ada'), login('b', 'ADA'), login('c', 'bob'), login('d', 'ada')].join(' ')
    const { errors } = await query(`mutation { ${logins} }`)
    expect(errors.map(({ path }: { path: string[] }) => path)).toEqual([['d']])
    const again = await query(`mutation { ${login('a', 'ada')} }`)
    expect(again.errors).toHaveLength(1)
  })
})

describe('over WebSockets', () => {
  let client: WebSocket

  beforeAll(async () => {
    client = new WebSocket(`ws://127.0.0.1:${server.calls}`)
    await once(client, 'open')
  })
  afterAll(() => client.terminate())

  async function ask(event: string, data: object = {}): Promise<{ event: string; data: unknown }> {
    client.send(JSON.stringify({ event, data }))
    const [message] = await once(client, 'message')
    return JSON.parse(String(message))
  }

  test('each message is charged, and one that is denied is answered by the event exception', async () => {
    expect([await ask('remaining'), await ask('remaining')]).toEqual([
      { event: 'remaining', data: 1 },
      { event: 'remaining', data: 0 },
    ])
    expect(await ask('remaining')).toEqual({
      event: 'exception',
      data: {
        status: 'error',
        message: 'Too Many Requests',
        code: 'TOO_MANY_REQUESTS',
        retryAfterMs: 30_000,
        violatedPolicies: ['2-in-1min'],
      },
    })
  })

  test('byField() reads the data of a message', async () => {
    const events: string[] = []
    for (const username of ['ada', 'ada', 'bob']) events.push((await ask('login', { username })).event)
    expect(events).toEqual(['login', 'exception', 'login'])
    expect(await ask('free')).toEqual({ event: 'free', data: 'free' })
  })
})
