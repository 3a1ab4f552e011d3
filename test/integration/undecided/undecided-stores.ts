import express, { type Response } from 'express'
import fastify from 'fastify'
import { ban, loginGuard, type Policy, rateLimit, type Store, slidingWindow } from 'headgate'
import { rateLimitHook } from 'headgate/fastify'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { type Answer, closeServers, closeWithServers, send, serve, type Target } from '../../support/http.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { until } from '../../support/servers/wait.js'
import type { Started, StoreKind } from '../store-kinds.js'

const WINDOW_S = String(1000 * 86_400)
const WRONG = '401'
const RIGHT = '200'

/** A limit that bans on the first denial that counts. */
const strict = (limit: number): Policy =>
  ban(slidingWindow({ limit, window: LONG }), { after: 1, within: LONG, for: LONG })

/** Requests that reached a handler, each of which waits until the test lets it respond. */
interface Held {
  readonly count: number
  /** Lets those requests respond that wait now. */
  respond(): void
}

/** A server of one process, whose handler responds with the status that a request asks for. */
interface Process extends Target {
  readonly held: Held
}

function holding(): Held & { wait(respond: () => void): void } {
  const waiting: (() => void)[] = []
  return {
    get count() {
      return waiting.length
    },
    wait: (respond) => void waiting.push(respond),
    respond() {
      for (const each of waiting.splice(0)) each()
    },
  }
}

/** Starts a login in Express behind a guard. */
async function startLogin(store: Store, name: string, limits: { address: number; pair: number }) {
  const guard = loginGuard({
    field: 'username',
    store,
    name,
    timeout: 10_000,
    limits: {
      address: strict(limits.address),
      account: slidingWindow({ limit: 2 * limits.pair, window: LONG }),
      accountAndAddress: strict(limits.pair),
    },
  })
  const held = holding()
  const app = express()
  app.post('/login', express.urlencoded(), guard, (req, res) => {
    held.wait(() => res.status(Number((req.body as { status: string }).status)).end())
  })
  return { ...(await serve(app)), held }
}

const attempt = (target: Target, username: string, status: string) =>
  send(target, {
    method: 'POST',
    path: '/login',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ username, status }).toString(),
  })

interface Options {
  readonly store: Store
  readonly name: string
  readonly policy: Policy
  readonly count: 'failed'
}

async function startExpress(options: Options): Promise<Process> {
  const held = holding()
  const app = express()
  app.use(rateLimit({ timeout: 10_000, ...options }), (req, res: Response) =>
    held.wait(() => res.status(Number(req.url.slice(1))).end()),
  )
  return { ...(await serve(app)), held }
}

async function startFastify(options: Options): Promise<Process> {
  const held = holding()
  const app = fastify()
  const limit = rateLimitHook({ timeout: 10_000, ...options })
  app.get('/:status', { onRequest: limit }, async (request, reply) => {
    await new Promise<void>((resolve) => held.wait(resolve))
    return reply.status(Number((request.params as { status: string }).status)).send('')
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  closeWithServers(async () => void (await app.close()))
  return { port: (app.server.address() as { port: number }).port, held }
}

const get = (target: Target, status: string) => send(target, { path: `/${status}` })

/**
 * Sends requests that all are decided before any handler responds. Returns the responses, of which `denied`
 * came before that.
 */
async function sendTogether(
  processes: readonly Process[],
  requests: readonly (() => Promise<Answer>)[],
): Promise<{ answers: Answer[]; denied: Answer[] }> {
  const denied: Answer[] = []
  const heldNow = () => processes.reduce((sum, { held }) => sum + held.count, 0)
  let hasResponded = false
  const sent = requests.map(async (request) => {
    const answer = await request()
    if (!hasResponded) denied.push(answer)
    return answer
  })
  await until('all requests are decided', () => heldNow() + denied.length === requests.length)
  hasResponded = true
  for (const { held } of processes) held.respond()
  return { answers: await Promise.all(sent), denied }
}

/** Sends a request whose handler responds as soon as it is called. */
async function sendAlone(process: Process, request: () => Promise<Answer>): Promise<Answer> {
  const { answers } = await sendTogether([process], [request])
  return answers[0] as Answer
}

const seen = ({ status, headers }: Answer) => [status, headers['retry-after']]
const SHORT = [429, '1']
const LASTING = [429, WINDOW_S]

/** Defines the tests of undecided requests on a store. */
export function describeUndecided({ name, isAtomic, start }: StoreKind): void {
  describe(`undecided requests on ${name}`, () => {
    let started: Started
    let names = 0
    const nextName = () => `undecided-${++names}`

    beforeAll(async () => {
      started = await start()
    }, INSTALL_TIMEOUT_MS)
    afterEach(closeServers)
    afterAll(() => started?.stop())

    test('ten right logins of one account at once are allowed or denied for a second, and none is banned', async () => {
      const login = await startLogin(await started.makeStore(), nextName(), { address: 50, pair: 5 })
      const logIn = () => attempt(login, 'ada', RIGHT)
      const { answers, denied } = await sendTogether([login], Array(10).fill(logIn))
      if (isAtomic) expect(denied).toHaveLength(5)
      expect(denied.map(seen)).toEqual(denied.map(() => SHORT))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10 - denied.length)
      await until('the successes are cleared', async () => {
        const { status } = await sendAlone(login, logIn)
        return status === 200
      })
    })

    test('of sixty users behind one address, nobody is banned or denied for long', async () => {
      const login = await startLogin(await started.makeStore(), nextName(), { address: 50, pair: 5 })
      const users = Array.from({ length: 60 }, (_, i) => () => attempt(login, `user-${i}`, RIGHT))
      const { answers, denied } = await sendTogether([login], users)
      if (isAtomic) expect(denied).toHaveLength(10)
      expect(denied.map(seen)).toEqual(denied.map(() => SHORT))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(60 - denied.length)
      expect((await sendAlone(login, () => attempt(login, 'later', RIGHT))).status).toBe(200)
    })

    test('fifty wrong guesses at once let five through, and the next one is denied for long', async () => {
      const login = await startLogin(await started.makeStore(), nextName(), { address: 50, pair: 5 })
      const guess = () => attempt(login, 'ada', WRONG)
      const { answers } = await sendTogether([login], Array(50).fill(guess))
      const failed = answers.filter(({ status }) => status === 401).length
      expect(failed).toBeLessThanOrEqual(5)
      if (isAtomic) expect(failed).toBe(5)
      for (let left = 5 - failed; left > 0; left--) await sendAlone(login, guess)
      expect(seen(await sendAlone(login, guess))).toEqual(LASTING)
      expect(seen(await sendAlone(login, () => attempt(login, 'ada', RIGHT)))).toEqual(LASTING)
    })

    test.each([
      ['Express', 'with a ban', strict(2), startExpress],
      ['Express', 'without a ban', slidingWindow({ limit: 2, window: LONG }), startExpress],
      ['Fastify', 'with a ban', strict(2), startFastify],
    ] as const)(
      "count: 'failed' in %s, %s, denies for a second while requests are undecided",
      async (...row) => {
        const [, , policy, startServer] = row
        const options = { policy, count: 'failed' as const, name: nextName() }
        const server = await startServer({ ...options, store: await started.makeStore() })
        const { answers, denied } = await sendTogether(
          [server],
          Array(6).fill(() => get(server, '200')),
        )
        expect(denied.map(seen)).toEqual(denied.map(() => SHORT))
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(6 - denied.length)
        await until('both units are back', async () => {
          const { status } = await sendAlone(server, () => get(server, '200'))
          return status === 200
        })
        const failures = [await sendAlone(server, () => get(server, '500'))]
        failures.push(await sendAlone(server, () => get(server, '500')))
        expect(failures.map(({ status }) => status)).toEqual([500, 500])
        const { status, headers } = await sendAlone(server, () => get(server, '200'))
        expect(status).toBe(429)
        expect(Number(headers['retry-after'])).toBeGreaterThan(86_400)
      },
    )

    test('one process knows what requests of another are undecided, and no cache outlasts them', async () => {
      const name = nextName()
      const policy = strict(3)
      const open = async () =>
        startExpress({ policy, count: 'failed', name, store: await started.makeStore() })
      const [busy, idle] = [await open(), await open()]
      const held = Array.from({ length: 3 }, () => get(busy, '500'))
      await until('they are in the handler', () => busy.held.count === 3)
      expect(seen(await get(idle, '200'))).toEqual(SHORT)
      expect(seen(await get(idle, '200'))).toEqual(SHORT)
      busy.held.respond()
      expect((await Promise.all(held)).map(({ status }) => status)).toEqual([500, 500, 500])
      const counted = await until('the failures are known', async () => {
        const answer = await get(idle, '200')
        return answer.headers['retry-after'] === '1' ? undefined : answer
      })
      expect(seen(counted)).toEqual(LASTING)
    })

    test('the ten right logins may also come through four processes', async () => {
      const name = nextName()
      const limits = { address: 50, pair: 5 }
      const stores = await Promise.all(Array.from({ length: 4 }, () => started.makeStore()))
      const logins = await Promise.all(stores.map((store) => startLogin(store, name, limits)))
      const attempts = Array.from({ length: 10 }, (_, i) => () => {
        // Most come through the first, so that others have none of the units in use.
        const login = logins[i < 6 ? 0 : i - 6] as (typeof logins)[0]
        return attempt(login, 'ada', RIGHT)
      })
      const { answers, denied } = await sendTogether(logins, attempts)
      expect(denied.map(seen)).toEqual(denied.map(() => SHORT))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10 - denied.length)
    })
  })
}
