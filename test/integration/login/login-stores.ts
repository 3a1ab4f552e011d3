import express, { type Request, type Response } from 'express'
import {
  adjustments,
  ban,
  type LoginGuard,
  type LoginGuardOptions,
  loginGuard,
  type Policy,
  type Store,
  slidingWindow,
} from 'headgate'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { type Answer, closeServers, type Served, send, serve } from '../../support/http.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { until } from '../../support/servers/wait.js'
import type { Extent } from '../../support/store-conformance.js'
import type { Started, StoreKind } from '../store-kinds.js'

type Guard = LoginGuard
type Options = Partial<LoginGuardOptions<Request, Response>>

interface Login {
  readonly guard: Guard
  /** The names that reached the handler. */
  readonly reached: string[]
  /** What the store failed with. */
  readonly failures: unknown[]
  attempt(username: string, password: string, from?: string): Promise<Answer>
}

const RIGHT = 'analytical engine'
const WRONG = 'wrong'
const HOME = '127.3.0.1'
const ATTACKER = '127.3.0.2'
/** Addresses that nobody else has. */
const crowd = (count: number) => Array.from({ length: count }, (_, i) => `127.4.0.${i + 1}`)
const lasting = (limit: number): Policy => slidingWindow({ limit, window: LONG })

/** The default limits, with windows so long that time does not matter, and no bans. */
const LIMITS = { address: lasting(50), account: lasting(10), accountAndAddress: lasting(5) }

/** A login in Express on a port, behind a guard. */
async function startLogin(store: Store, name: string, options: Options = {}): Promise<Login> {
  const guard = loginGuard({
    field: 'username',
    store,
    name,
    limits: LIMITS,
    timeout: 10_000,
    ...options,
  })
  const failures: unknown[] = []
  const record = (error: unknown) => failures.push(error)
  guard.limiter.events.on('storeError', record).on('refundFailed', record)
  const reached: string[] = []
  const app = express()
  app.post('/login', express.urlencoded(), guard, (req, res) => {
    const { username, password } = req.body as Record<string, string>
    reached.push(username as string)
    res.status(password === RIGHT ? 200 : 401).end()
  })
  const served: Served = await serve(app)
  return {
    guard,
    reached,
    failures,
    attempt(username, password, from = HOME) {
      const body = new URLSearchParams({ username, password }).toString()
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return send(served, { method: 'POST', path: '/login', headers, body, from })
    },
  }
}

/** What is left of each limit for this account and address. */
async function leftOf({ guard }: Login, username: string, ip: string): Promise<Record<string, number>> {
  const { parts } = await guard.limiter.peek({ body: { username }, ip } as unknown as Request)
  return Object.fromEntries(parts.map(({ name, remaining }) => [name, remaining]))
}

/** Waits until a success is cleared: its response is sent while the store still forgets. */
async function untilCleared(login: Login, username: string, ip: string): Promise<void> {
  await until('the failures are forgotten', async () => {
    const left = await leftOf(login, username, ip)
    return left.account === LIMITS.account.limit && left['account-and-address'] === 5
  })
}

async function times(count: number, attempt: () => Promise<Answer>): Promise<number[]> {
  const seen: number[] = []
  for (let i = 0; i < count; i++) seen.push((await attempt()).status)
  return seen
}

const countStatus = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length

/** Defines the tests of a guard on a store: all, or those in which stores differ most. */
export function describeGuard({ name, isAtomic, start }: StoreKind, extent: Extent): void {
  describe(`a guard on ${name}`, () => {
    let started: Started
    let guards = 0
    const logins: Login[] = []

    async function login(options?: Options, name = `guard-${++guards}`): Promise<Login> {
      const made = await startLogin(await started.makeStore(), name, options)
      logins.push(made)
      return made
    }

    beforeAll(async () => {
      started = await start()
    }, INSTALL_TIMEOUT_MS)

    afterEach(async () => {
      await closeServers()
      for (const { failures } of logins.splice(0)) expect(failures).toEqual([])
    })

    afterAll(() => started?.stop())

    test('lets no more than 5 of 100 wrong guesses at once from one address reach the handler', async () => {
      const own = await login()
      const answers = await Promise.all(Array.from({ length: 100 }, () => own.attempt('ada', WRONG)))
      expect(own.reached.length).toBeLessThanOrEqual(5)
      expect(own.reached.length).toBeGreaterThanOrEqual(isAtomic ? 5 : 1)
      expect(countStatus(answers, 401)).toBe(own.reached.length)
      expect(countStatus(answers, 429)).toBe(100 - own.reached.length)
      // Those that were refused have taken nothing of any limit.
      const taken = own.reached.length
      expect(await leftOf(own, 'ada', HOME)).toEqual({
        address: 50 - taken,
        account: 10 - taken,
        'account-and-address': 5 - taken,
        consecutive: 100 - taken,
      })
      // Where concurrent charges denied each other the rest is left for later attempts, and no more.
      await times(8, () => own.attempt('ada', WRONG))
      expect(own.reached).toHaveLength(5)
    })

    test('clears the failures of the account after a success, and not those of the address', async () => {
      const own = await login()
      expect(await times(4, () => own.attempt('ada', WRONG, ATTACKER))).toEqual([401, 401, 401, 401])
      expect(await times(3, () => own.attempt('ada', WRONG))).toEqual([401, 401, 401])
      expect((await own.attempt('ada', RIGHT)).status).toBe(200)
      await untilCleared(own, 'ada', HOME)
      await until('the address is refunded', async () => (await leftOf(own, 'ada', HOME)).address === 47)
      expect(await leftOf(own, 'ada', HOME)).toEqual({
        address: 47,
        account: 10,
        'account-and-address': 5,
        consecutive: 100,
      })
      // Nor are those of the account from another address: whoever guessed there goes on where he was.
      expect(await leftOf(own, 'ada', ATTACKER)).toMatchObject({ address: 46, 'account-and-address': 1 })
      expect(await times(6, () => own.attempt('ada', WRONG))).toEqual([401, 401, 401, 401, 401, 429])
    })

    test('shares its limits with a guard of the same name in another process', async () => {
      const locked: string[] = []
      const options: Options = { consecutive: 7, onLockout: (account) => void locked.push(account) }
      const [one, two] = [await login(options, 'shared'), await login(options, 'shared')]
      const turns = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? one : two))
      await Promise.all(turns.map((each) => each.attempt('ada', WRONG)))
      const reached = () => one.reached.length + two.reached.length
      expect(reached()).toBeLessThanOrEqual(5)
      for (const each of [one, two]) await times(6, () => each.attempt('ada', WRONG))
      expect(reached()).toBe(5)
      expect(await leftOf(two, 'ada', HOME)).toEqual(await leftOf(one, 'ada', HOME))
      expect((await two.attempt('ada', RIGHT, ATTACKER)).status).toBe(200)
      await untilCleared(one, 'ada', ATTACKER)
      expect(await leftOf(one, 'ada', HOME)).toMatchObject({ address: 45, account: 10, consecutive: 7 })
      for (const [i, from] of crowd(9).entries()) await (i % 2 === 0 ? one : two).attempt('ada', WRONG, from)
      expect(reached()).toBe(5 + 1 + 7)
      expect(locked).toEqual(['ada'])
      expect((await one.attempt('ada', RIGHT, ATTACKER)).status).toBe(429)
      await adjustments(two.guard.limiter).forget({ body: { username: 'ada' }, ip: ATTACKER })
      expect((await one.attempt('ada', RIGHT, ATTACKER)).status).toBe(200)
    })

    // On memcached these keys and states were too long for the items by which it is watched for losses.
    test('enforces the default limits', async () => {
      const own = await login({ limits: {} })
      expect(await times(7, () => own.attempt('ada', WRONG))).toEqual([401, 401, 401, 401, 401, 429, 429])
      expect((await own.attempt('ada', RIGHT, ATTACKER)).status).toBe(200)
    })

    if (extent === 'all') describeMore()

    function describeMore(): void {
      test('lets no more than 10 of 90 wrong guesses at once from 30 addresses reach the handler', async () => {
        const own = await login()
        const guesses = crowd(30).flatMap((from) => Array.from({ length: 3 }, () => from))
        const answers = await Promise.all(guesses.map((from) => own.attempt('ada', WRONG, from)))
        expect(own.reached.length).toBeLessThanOrEqual(10)
        expect(own.reached.length).toBeGreaterThanOrEqual(isAtomic ? 10 : 1)
        expect(countStatus(answers, 401) + countStatus(answers, 429)).toBe(90)
        for (const from of crowd(30)) await own.attempt('ada', WRONG, from)
        expect(own.reached).toHaveLength(10)
        expect((await own.attempt('grace', RIGHT, crowd(1)[0])).status).toBe(200) // another account is open
      })

      test('grants no further guesses for logins with an account of one’s own in between', async () => {
        const limits = { ...LIMITS, address: lasting(4) }
        const own = await login({ limits })
        const seen: number[] = []
        for (const victim of ['ada', 'grace', 'mary', 'joan', 'edith', 'katherine']) {
          seen.push((await own.attempt(victim, WRONG, ATTACKER)).status)
          seen.push((await own.attempt('mallory', RIGHT, ATTACKER)).status)
          const taken = Math.min(4, seen.length / 2)
          await until('the success is refunded', async () => {
            const { address, account } = await leftOf(own, 'mallory', ATTACKER)
            return address === 4 - taken && account === 10
          })
        }
        expect(seen).toEqual([401, 200, 401, 200, 401, 200, 401, 429, 429, 429, 429, 429])
        expect(own.reached.filter((name) => name !== 'mallory')).toEqual(['ada', 'grace', 'mary', 'joan'])
      })

      test('bans a guesser who goes on, for longer each time, and no other client', async () => {
        const inner = slidingWindow({ limit: 2, window: '1d' })
        const banned = ban(inner, { after: 3, within: '1d', for: ['10d', '100d'] })
        const own = await login({ limits: { ...LIMITS, accountAndAddress: banned } })
        const waits: number[] = [] // in seconds
        own.guard.limiter.events.on('denied', ({ retryAfterMs }) => waits.push(retryAfterMs / 1000))
        for (let i = 0; i < 8; i++) {
          const { status } = await own.attempt('ada', WRONG, ATTACKER)
          expect(status).toBe(i < 2 ? 401 : 429)
        }
        expect(waits).toHaveLength(6)
        const [DAY_S, SLACK_S] = [86_400, 60]
        for (const wait of waits.slice(0, 2)) expect(wait).toBeLessThanOrEqual(DAY_S)
        for (const wait of waits.slice(2)) {
          expect(wait).toBeLessThanOrEqual(10 * DAY_S)
          expect(wait).toBeGreaterThan(10 * DAY_S - SLACK_S)
        }
        expect(waits.at(-1)).toBeLessThanOrEqual(waits[2] as number) // attempts during a ban do not lengthen it
        expect((await own.attempt('ada', RIGHT, ATTACKER)).status).toBe(429)
        expect(own.reached).toHaveLength(2)
        expect((await own.attempt('ada', RIGHT)).status).toBe(200)
        expect(await leftOf(own, 'ada', ATTACKER)).toMatchObject({ 'account-and-address': 0 })
      })

      test('locks an account after failures in a row, calls onLockout once, and unlocks by forget', async () => {
        const locked: string[] = []
        const own = await login({ consecutive: 3, onLockout: (account) => void locked.push(account) })
        for (const from of crowd(5)) await own.attempt('ada', WRONG, from)
        expect(own.reached).toHaveLength(3)
        expect(locked).toEqual(['ada'])
        expect((await own.attempt('ada', RIGHT)).status).toBe(429)
        expect((await own.attempt('grace', RIGHT)).status).toBe(200)
        await adjustments(own.guard.limiter).forget({ body: { username: 'ada' }, ip: HOME })
        expect((await own.attempt('ada', RIGHT)).status).toBe(200)
        expect(locked).toEqual(['ada'])
      })

      test('restarts the count of failures in a row after a success', async () => {
        const own = await login({ consecutive: 3 })
        for (let i = 0; i < 3; i++) {
          expect(await times(2, () => own.attempt('ada', WRONG))).toEqual([401, 401])
          expect((await own.attempt('ada', RIGHT)).status).toBe(200)
          await untilCleared(own, 'ada', HOME)
        }
        expect(await times(4, () => own.attempt('ada', WRONG))).toEqual([401, 401, 401, 429])
      })

      test('locks nobody for concurrent attempts that are refused', async () => {
        for (let round = 0; round < 3; round++) {
          const locked: string[] = []
          const options: Options = { consecutive: 7, onLockout: (account) => void locked.push(account) }
          const both = [await login(options, `early-${round}`), await login(options, `early-${round}`)]
          await Promise.all(
            both.flatMap((each) => Array.from({ length: 25 }, () => each.attempt('ada', WRONG))),
          )
          expect(locked).toEqual([])
        }
      })
    }
  })
}
