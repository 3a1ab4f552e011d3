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

interface Demo {
  readonly demo: DemoProcess
  readonly url: string | undefined
}

/** Has demos forget the client. */
const forget = (demos: readonly Demo[]) =>
  until('the demos forget the client', async () => {
    const responses = await Promise.all(demos.map(({ url }) => fetch(`${url}/traffic`, { method: 'DELETE' })))
    return responses.every(({ ok }) => ok)
  })

/** Sends requests to each of some demos at once. Returns how many were allowed and denied. */
async function send(demos: readonly Demo[], requests: number) {
  const urls = demos.flatMap(({ url }) => Array<string>(requests).fill(`${url}/traffic/first-request`))
  const statuses = await Promise.all(urls.map(async (url) => (await fetch(url)).status))
  const count = (status: number) => statuses.filter((each) => each === status).length
  return { allowed: count(200), denied: count(429) }
}

/**
 * Runs requests to demos. If one is too slow for the deadline, its demo says so and limits on its own: then
 * `reset` forgets all, and they run again.
 */
const inTime = <T extends object>(
  demos: readonly Demo[],
  run: () => Promise<T>,
  reset: () => Promise<unknown>,
) =>
  until('no request is too slow for the store', async () => {
    const errors = () => demos.map(({ demo }) => demo.printed.err).join()
    const before = errors()
    const result = await run()
    if (errors() === before) return result
    await reset()
    return undefined
  })

/** Sends requests as `send` does, all in time. */
const sendInTime = (demos: readonly Demo[], requests: number) =>
  inTime(
    demos,
    () => send(demos, requests),
    () => forget(demos),
  )

async function logIn(url: string | undefined, password: string): Promise<number> {
  const body = new URLSearchParams({ username: 'ada', password })
  return (await fetch(`${url}/login`, { method: 'POST', body })).status
}

/** Logs in at one demo after the other. Returns the statuses. */
async function logInAt(demos: readonly Demo[], password: string): Promise<number[]> {
  const statuses: number[] = []
  for (const { url } of demos) statuses.push(await logIn(url, password))
  return statuses
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
  async function open(on: Server = server): Promise<Demo> {
    const demo = startDemo({ [place.variable]: on.url }, program)
    demos.push(demo)
    const url = (await demo.listening())?.replace('localhost', '127.0.0.1')
    if (on === server) await fetch(`${url}/traffic`) // its first request may be too slow for the deadline
    return { demo, url }
  }

  /** Logs in at one demo after the other, all in time. */
  const logInInTime = (at: readonly Demo[], password: string) =>
    inTime(
      at,
      () => logInAt(at, password),
      () => place.empty(server),
    )

  test(`two demos on one ${place.server} together let through as much as one alone`, async () => {
    const [a, b] = await Promise.all([open(), open()])
    expect(a.url).not.toBe(b.url)
    expect(a.demo.printed.out).toContain(
      `in ${place.server}, shared by all demos with the same ${place.variable}`,
    )
    expect(await sendInTime([a, b], 15)).toEqual({ allowed: 10, denied: 20 })
    await fetch(`${a.url}/traffic`, { method: 'DELETE' }) // forgets the client, for both
    const peeked = await (await fetch(`${b.url}/traffic`)).json()
    expect(peeked).toMatchObject({ quotas: { 'first-request': { remaining: 10 } } })
  })

  test('a failed login counts on both demos, and a successful one on neither', async () => {
    const [a, b] = await Promise.all([open(), open()])
    await logInAt([a, b], PASSWORD) // may be too slow, and stay charged
    await place.empty(server)
    expect(await logInInTime([a, b, a, b], PASSWORD)).toEqual([200, 200, 200, 200])
    await until('all units are refunded', () => place.hasAllBack(server))
    expect(await logInInTime([a, b, a, b, a], 'wrong')).toEqual([401, 401, 401, 401, 401])
    expect(await logInAt([b, a], PASSWORD)).toEqual([429, 429])
  })

  test('a demo that stops leaves the other one and the limits alone', async () => {
    const [a, b] = await Promise.all([open(), open()])
    expect(await logInInTime([a, a, a, a, a], 'wrong')).toEqual([401, 401, 401, 401, 401])
    const before = a.demo.printed.err
    expect(await a.demo.stop('SIGTERM')).toBe(0)
    expect(a.demo.printed.err).toBe(before)
    expect(await logIn(b.url, PASSWORD)).toBe(429)
    const { url } = await open()
    expect(await logIn(url, PASSWORD)).toBe(429)
  })

  test(`while ${place.server} is down the demo says so once and limits on its own, and shares limits again when it is available`, async () => {
    const own = await place.start()
    try {
      await own.kill()
      const opened = await open(own)
      const { demo, url } = opened
      expect(await send([opened], 15)).toEqual({ allowed: 10, denied: 5 })
      expect((await fetch(`${url}/`)).status).toBe(200)
      const { port } = own
      expect(demo.printed.err).toContain(
        `${place.variable}: ${place.server} is unavailable (connect ECONNREFUSED 127.0.0.1:${port}). ` +
          'Until it is back, this process limits on its own.',
      )
      await own.restart()
      await until('the demo has seen that it is back', async () => {
        await fetch(`${url}/api/time`)
        return demo.printed.err.includes(`${place.server} is available again.`)
      })
      expect(demo.printed.err.match(/is unavailable/g)).toHaveLength(1)
      expect(await sendInTime([opened], 15)).toEqual({ allowed: 10, denied: 5 })
      await own.kill() // a demo whose server is down can still be stopped
      expect(await demo.stop('SIGINT')).toBe(0)
    } finally {
      await own.stop()
    }
  })
}
