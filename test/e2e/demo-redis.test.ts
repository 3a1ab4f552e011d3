import { INSTALL_TIMEOUT_MS } from '../servers/install.js'
import { type RedisServer, startRedis } from '../servers/redis.js'
import { until } from '../servers/wait.js'
import { type DemoProcess, startDemo } from './demo-process.js'

jest.setTimeout(60_000)

let server: RedisServer
const demos: DemoProcess[] = []

beforeAll(async () => {
  server = await startRedis({ own: true })
}, INSTALL_TIMEOUT_MS)

afterAll(() => server?.stop())

afterEach(async () => {
  await Promise.all(demos.splice(0).map((demo) => demo.stop('SIGKILL')))
  await server.cli('FLUSHALL')
})

/** Starts the demo on a free port and the server, and gives its address: by number, so that all demos see one client. */
async function open(REDIS_URL = server.url) {
  const demo = startDemo({ REDIS_URL })
  demos.push(demo)
  const url = await demo.listening()
  return { demo, url: url?.replace('localhost', '127.0.0.1') }
}

const statusesOf = async (urls: readonly string[]) =>
  Promise.all(urls.map(async (url) => (await fetch(url)).status))

async function logIn(url: string | undefined, password: string): Promise<number> {
  const body = new URLSearchParams({ username: 'ada', password })
  return (await fetch(`${url}/login`, { method: 'POST', body })).status
}

test('two demos on one Redis let through as much together as one alone', async () => {
  const [a, b] = await Promise.all([open(), open()])
  expect(a.url).not.toBe(b.url)
  expect(a.demo.printed.out).toContain('in Redis, shared by all demos with the same REDIS_URL')
  const play = [a.url, b.url].map((url) => `${url}/play/consecutive`)
  const statuses = await statusesOf(Array.from({ length: 15 }, () => play).flat())
  expect(statuses.filter((status) => status === 200)).toHaveLength(10)
  expect(statuses.filter((status) => status === 429)).toHaveLength(20)
  await fetch(`${a.url}/play/consecutive/quota`, { method: 'DELETE' }) // forgets the client, for both
  expect(await (await fetch(`${b.url}/play/consecutive/quota`)).json()).toMatchObject({ remaining: 10 })
})

test('failed logins count on both, and a login that succeeds on neither', async () => {
  const [a, b] = await Promise.all([open(), open()])
  for (const { url } of [a, b, a, b]) expect(await logIn(url, 'analytical')).toBe(200)
  await until('all of them are given back', async () => (await server.cli('DBSIZE')) === '0')
  for (const { url } of [a, b, a]) expect(await logIn(url, 'wrong')).toBe(401)
  for (const { url } of [b, a]) expect(await logIn(url, 'analytical')).toBe(429)
})

test('a demo that stops leaves the other one and the limits alone', async () => {
  const [a, b] = await Promise.all([open(), open()])
  expect(await statusesOf(Array(10).fill(`${a.url}/play/consecutive`))).toEqual(Array(10).fill(200))
  expect(await a.demo.stop('SIGTERM')).toBe(0)
  expect(await statusesOf([`${b.url}/play/consecutive`])).toEqual([429])
  const { url } = await open()
  expect(await statusesOf([`${url}/play/consecutive`])).toEqual([429])
  expect(a.demo.printed.err + b.demo.printed.err).toBe('')
})

test('while Redis is away the demo says so once and lets requests through, and limits again when it is back', async () => {
  const own = await startRedis({ own: true })
  try {
    await own.kill()
    const { demo, url } = await open(own.url)
    const api = () => fetch(`${url}/api/time`)
    for (let i = 0; i < 25; i++) {
      const { status, headers } = await api()
      expect([status, headers.has('x-ratelimit-limit')]).toEqual([200, false])
    }
    expect((await fetch(`${url}/`)).status).toBe(200)
    const { port } = own
    expect(demo.printed.err).toContain(
      `REDIS_URL: Redis cannot be asked (connect ECONNREFUSED 127.0.0.1:${port}). Until it can, every request is let through.`,
    )
    await own.restart()
    await until('the demo limits', async () => (await api()).headers.has('x-ratelimit-limit'))
    expect(demo.printed.err.match(/cannot be asked/g)).toHaveLength(1)
    expect(demo.printed.err).toContain('Redis answers again.')
    const statuses = await statusesOf(Array(11).fill(`${url}/play/consecutive`))
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    await own.kill() // a demo whose Redis is away can still be stopped
    expect(await demo.stop('SIGINT')).toBe(0)
  } finally {
    await own.stop()
  }
})

test.each([
  'localhost:6379',
  'http://127.0.0.1:6379',
  'redis://',
  'redis://127.0.0.1:port',
  'redis://127.0.0.1/one',
])('refuses REDIS_URL=%s', async (REDIS_URL) => {
  const { ended, printed } = startDemo({ REDIS_URL })
  expect(await ended).toBe(1)
  expect(printed.err).toBe(
    'REDIS_URL must be an address such as redis://127.0.0.1:6379, or rediss://... for TLS.\n',
  )
})
