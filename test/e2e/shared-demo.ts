import type { Bundle } from '../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import type { Server } from '../support/servers/server.js'
import { until } from '../support/servers/wait.js'
import { bundleDemo, type DemoProcess, startDemo } from './demo-process.js'

/** A kind of server on which demos can share their limits. */
export interface SharedPlace<S extends Server> {
  readonly server: string
  readonly variable: 'REDIS_URL' | 'MEMCACHED_URL' | 'DATABASE_URL'
  start(): Promise<S>
  /** Removes all limits. */
  empty(server: S): Promise<unknown>
  /** Whether all successful logins have been refunded, and no state is left. */
  hasAllBack(server: S): Promise<boolean>
}

const PASSWORD = 'analytical engine'

type Urls = readonly (string | undefined)[]

/** Has demos forget the client. */
const forget = (demos: Urls) =>
  until('the demos forget the client', async () => {
    const responses = await Promise.all(demos.map((url) => fetch(`${url}/traffic`, { method: 'DELETE' })))
    return responses.every(({ ok }) => ok)
  })

/**
 * Sends requests to each of some demos at once. A request that is too slow for the deadline passes without
 * figures, whatever the limit: then all are forgotten, and sent again.
 */
const statusesOf = (demos: Urls, requests: number) =>
  until('the store decides all requests', async () => {
    const urls = demos.flatMap((url) => Array<string>(requests).fill(`${url}/traffic/first-request`))
    const responses = await Promise.all(urls.map((url) => fetch(url)))
    if (responses.every(({ headers }) => headers.has('ratelimit')))
      return responses.map(({ status }) => status)
    await forget(demos)
    return undefined
  })

async function logIn(url: string | undefined, password: string): Promise<number> {
  const body = new URLSearchParams({ username: 'ada', password })
  return (await fetch(`${url}/login`, { method: 'POST', body })).status
}

/** Tests that demos on one server share their limits, and cope without it. */
export function testSharedDemo<S extends Server>(place: SharedPlace<S>): void {
  const demos: DemoProcess[] = []
  let server: S
  let program: Bundle

  beforeAll(async () => {
    server = await place.start()
    program = await bundleDemo()
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    await server?.stop()
    await program?.remove()
  })

  afterEach(async () => {
    await Promise.all(demos.splice(0).map((demo) => demo.stop('SIGKILL')))
    await place.empty(server)
  })

  /**
   * Starts the demo on a free port and a server, and gives its address: by number, so that all demos see one
   * client.
   */
  async function open(on: Server = server) {
    const demo = startDemo({ [place.variable]: on.url }, program)
    demos.push(demo)
    const url = (await demo.listening())?.replace('localhost', '127.0.0.1')
    if (on === server) await fetch(`${url}/traffic`) // its first request may be too slow for the deadline
    return { demo, url }
  }

  test(`two demos on one ${place.server} together let through as much as one alone`, async () => {
    const [a, b] = await Promise.all([open(), open()])
    expect(a.url).not.toBe(b.url)
    expect(a.demo.printed.out).toContain(
      `in ${place.server}, shared by all demos with the same ${place.variable}`,
    )
    const statuses = await statusesOf([a.url, b.url], 15)
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(20)
    await fetch(`${a.url}/traffic`, { method: 'DELETE' }) // forgets the client, for both
    const peeked = await (await fetch(`${b.url}/traffic`)).json()
    expect(peeked).toMatchObject({ quotas: { 'first-request': { remaining: 10 } } })
  })

  test('a failed login counts on both demos, and a successful one on neither', async () => {
    const [a, b] = await Promise.all([open(), open()])
    for (const { url } of [a, b]) await logIn(url, PASSWORD) // may be too slow, and stay charged
    await place.empty(server)
    for (const { url } of [a, b, a, b]) expect(await logIn(url, PASSWORD)).toBe(200)
    await until('all units are refunded', () => place.hasAllBack(server))
    for (const { url } of [a, b, a, b, a]) expect(await logIn(url, 'wrong')).toBe(401)
    for (const { url } of [b, a]) expect(await logIn(url, PASSWORD)).toBe(429)
  })

  test('a demo that stops leaves the other one and the limits alone', async () => {
    const [a, b] = await Promise.all([open(), open()])
    for (let i = 0; i < 5; i++) expect(await logIn(a.url, 'wrong')).toBe(401)
    expect(await a.demo.stop('SIGTERM')).toBe(0)
    expect(await logIn(b.url, PASSWORD)).toBe(429)
    const { url } = await open()
    expect(await logIn(url, PASSWORD)).toBe(429)
    expect(a.demo.printed.err + b.demo.printed.err).toBe('')
  })

  test(`while ${place.server} is down the demo says so once and lets requests through, and limits again when it is available`, async () => {
    const own = await place.start()
    try {
      await own.kill()
      const { demo, url } = await open(own)
      const api = () => fetch(`${url}/api/time`)
      for (let i = 0; i < 25; i++) {
        const { status, headers } = await api()
        expect([status, headers.has('x-ratelimit-limit')]).toEqual([200, false])
      }
      expect((await fetch(`${url}/`)).status).toBe(200)
      const { port } = own
      expect(demo.printed.err).toContain(
        `${place.variable}: ${place.server} is unavailable (connect ECONNREFUSED 127.0.0.1:${port}). ` +
          'Every request is allowed until it is back.',
      )
      await own.restart()
      await until('the demo limits', async () => (await api()).headers.has('x-ratelimit-limit'))
      expect(demo.printed.err.match(/is unavailable/g)).toHaveLength(1)
      expect(demo.printed.err).toContain(`${place.server} is available again.`)
      const statuses = await statusesOf([url], 11)
      expect(statuses.filter((status) => status === 200)).toHaveLength(10)
      await own.kill() // a demo whose server is down can still be stopped
      expect(await demo.stop('SIGINT')).toBe(0)
    } finally {
      await own.stop()
    }
  })
}
