import assert from 'node:assert/strict'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { BenchRequest, BenchResponse, CLIENTS } from './contenders/bench-request.js'
import { endlessGuard, MANY } from './contenders/live-logins.js'
import { type Round, takeTurns } from './harness/rounds.js'
import { printTable, ratio } from './harness/table.js'
import { measure, type Usage } from './harness/usage.js'

const ROUNDS = 7
const ATTEMPTS = 20_000
/** Accounts that take turns: each address attempts many of them. */
const ACCOUNTS = 5_000

type Outcome = 'success' | 'failure'
/** An attempt: what goes before the handler, and the handler, which answers. A promise is awaited. */
type Attempt = (req: LoginRequest, res: BenchResponse, answer: () => void) => unknown

class LoginRequest extends BenchRequest {
  readonly body: { readonly username: string }

  constructor(client: number, username: string) {
    super(client)
    this.method = 'POST'
    this.body = { username }
  }
}

const guardedLogin = (options: Parameters<typeof endlessGuard>[0]) => (): Attempt =>
  endlessGuard(options) as unknown as Attempt

/**
 * Two counters, read before and counted after a failure, or deleted after a success: the order that its
 * documentation teaches.
 */
function twoCounters(): Attempt {
  const byAddress = new RateLimiterMemory({ points: MANY, duration: 3600, keyPrefix: 'address' })
  const byBoth = new RateLimiterMemory({ points: MANY, duration: 900, keyPrefix: 'both' })
  return async ({ ip, body }, res, answer) => {
    const key = `${body.username}_${ip}`
    const [both, address] = await Promise.all([byBoth.get(key), byAddress.get(ip)])
    if ((both?.consumedPoints ?? 0) > MANY || (address?.consumedPoints ?? 0) > MANY)
      return res.status(429).end()
    answer()
    if (res.statusCode >= 400) await Promise.all([byAddress.consume(ip), byBoth.consume(key)])
    else if (both !== null && both.consumedPoints > 0) await byBoth.delete(key)
    return undefined
  }
}

const CONTENDERS = {
  empty: (): Attempt => (_req, _res, answer) => answer(),
  headgate: guardedLogin({}),
  'headgate, device cookie': guardedLogin({
    name: 'login',
    deviceCookie: { secret: 'only for this benchmark' },
  }),
  'rate-limiter-flexible, two counters': twoCounters,
}
type Name = keyof typeof CONTENDERS
const NAMES = Object.keys(CONTENDERS) as Name[]

/** What a guard costs each attempt, in memory, less what the same attempts cost without one. */
export async function benchLogin(): Promise<void> {
  const rows: string[][] = []
  for (const outcome of ['failure', 'success'] as const) rows.push(...rowsOf(outcome, await compare(outcome)))
  printTable(
    `A guarded login above an unguarded one: ${ATTEMPTS} attempts a round at ${ACCOUNTS} accounts from ${CLIENTS} addresses, ${ROUNDS} rounds, medians`,
    ['contender', 'outcome', 'µs', 'CPU µs', 'limits', 'headgate is'],
    rows,
  )
}

async function compare(outcome: Outcome): Promise<Record<Name, Usage>> {
  const contenders: [Name, Round][] = []
  for (const name of NAMES) {
    const attempt = CONTENDERS[name]()
    await serve(attempt, outcome) // for the compiler
    contenders.push([name, () => measuredRound(attempt, outcome)])
  }
  return takeTurns(Object.fromEntries(contenders) as Record<Name, Round>, ROUNDS)
}

async function measuredRound(attempt: Attempt, outcome: Outcome): Promise<Usage> {
  const usage = measure()
  const reached = await serve(attempt, outcome)
  const used = usage()
  assert.equal(reached, ATTEMPTS, 'an attempt was refused')
  return used
}

/** What was made last: what is not kept may not be made. */
const kept: BenchResponse[] = []

async function serve(attempt: Attempt, outcome: Outcome): Promise<number> {
  let reached = 0
  for (let i = 0; i < ATTEMPTS; i++) {
    const req = new LoginRequest(i % CLIENTS, `user-${i % ACCOUNTS}`)
    const res = new BenchResponse(req)
    kept[i % 16] = res
    const waiting = attempt(req, res, () => {
      reached++
      res.statusCode = outcome === 'success' ? 200 : 401
      res.end()
    })
    if (waiting !== undefined) await waiting
  }
  return reached
}

function rowsOf(outcome: Outcome, usages: Record<Name, Usage>): string[][] {
  const above = (name: Name, figure: keyof Usage) =>
    (usages[name][figure] - usages.empty[figure]) / ATTEMPTS / 1000
  const peer = 'rate-limiter-flexible, two counters'
  return NAMES.filter((name) => name !== 'empty').map((name) => [
    name,
    outcome,
    above(name, 'wallNs').toFixed(2),
    above(name, 'cpuNs').toFixed(2),
    name === peer ? '2' : '4',
    name === peer ? '-' : ratio(above(name, 'wallNs'), above(peer, 'wallNs')),
  ])
}
