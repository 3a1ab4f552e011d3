import assert from 'node:assert/strict'
import {
  ConsecutiveBreaker,
  circuitBreaker as cockatielBreaker,
  handleAll,
  TimeoutStrategy,
  timeout,
  wrap,
} from 'cockatiel'
import { type Store, tokenBucket } from 'headgate'
import { type Charge, type ChargeResult, customStore } from 'headgate/store'
import CircuitBreaker from 'opossum'
import { built } from './harness/built.js'
import { takeTurns } from './harness/rounds.js'
import { printTable, ratio } from './harness/table.js'
import { measure } from './harness/usage.js'

const { circuitBreaker } =
  await built<typeof import('../../src/pipe/circuit-breaker.js')>('pipe/circuit-breaker.ts')
const { limiterPipe } = await built<typeof import('../../src/pipe/limiter-pipe.js')>('pipe/limiter-pipe.ts')

const ROUNDS = 9
const DECISIONS = 100_000
const TIMEOUT_MS = 100

const parts = [{ key: 'key', policy: tokenBucket({ capacity: 100, refill: 100, every: '1m' }), cost: 1 }]
const part = { allowed: true, remaining: 99, resetAfterMs: 600, retryAfterMs: 0, moreAfterMs: 600 }
const operation: Charge = { type: 'charge', parts }
const answer: readonly ChargeResult[] = [
  { type: 'charge', allowed: true, atMs: 1_790_000_000_000, parts: [part] },
]
const store: Store = customStore({ name: 'prompt', apply: async () => answer })

/** Each charges a store that answers with a promise at once, and returns its verdict. */
const CONTENDERS = {
  'nothing in between': charge,
  'headgate, breaker': withBreaker(),
  'cockatiel, breaker': withCockatiel(),
  'headgate, breaker and time-out': withGuard(),
  'cockatiel, breaker and time-out': withCockatielTimeout(),
  'opossum, breaker and time-out': withOpossum(),
} satisfies Record<string, () => Promise<ChargeResult>>

type Name = keyof typeof CONTENDERS

/**
 * What a closed circuit breaker adds to a decision of a store that answers. headgate's pipe also asks
 * its denial cache, and validates the verdict.
 */
export async function benchBreaker(): Promise<void> {
  const rounds = Object.entries(CONTENDERS).map(([name, decide]) => [name, () => round(decide)])
  for (const [, run] of rounds as [Name, () => Promise<unknown>][]) await run() // for the compiler
  const used = await takeTurns(
    Object.fromEntries(rounds) as Record<Name, () => ReturnType<typeof round>>,
    ROUNDS,
  )
  const above = (name: Name, figure: 'wallNs' | 'cpuNs') =>
    (used[name][figure] - used['nothing in between'][figure]) / DECISIONS
  const rowOf = (name: Name, own: Name) => [
    name,
    above(name, 'wallNs').toFixed(0),
    above(name, 'cpuNs').toFixed(0),
    name === own ? '-' : ratio(above(own, 'wallNs'), above(name, 'wallNs')),
  ]
  printTable(
    `A closed breaker, above charges without one: ${DECISIONS} decisions a round, one after the other, ${ROUNDS} rounds, medians`,
    ['contender', 'ns', 'CPU ns', '/ headgate'],
    [
      rowOf('headgate, breaker', 'headgate, breaker'),
      rowOf('cockatiel, breaker', 'headgate, breaker'),
      rowOf('headgate, breaker and time-out', 'headgate, breaker and time-out'),
      rowOf('cockatiel, breaker and time-out', 'headgate, breaker and time-out'),
      rowOf('opossum, breaker and time-out', 'headgate, breaker and time-out'),
    ],
  )
}

async function round(decide: () => Promise<ChargeResult>) {
  let allowed = 0
  const used = measure()
  for (let i = 0; i < DECISIONS; i++) if ((await decide()).allowed) allowed++
  const usage = used()
  assert.equal(allowed, DECISIONS)
  return usage
}

async function charge(): Promise<ChargeResult> {
  return (await store.apply([operation]))[0] as ChargeResult
}

function withBreaker(): () => Promise<ChargeResult> {
  const breaker = circuitBreaker(() => {})
  return async () => {
    const generation = breaker.admit()
    if (generation === undefined) throw new Error('open')
    const verdict = await charge()
    generation.recordSuccess()
    return verdict
  }
}

function withGuard(): () => Promise<ChargeResult> {
  const guarded = limiterPipe(store, { timeoutMs: TIMEOUT_MS, denyCacheMs: 0 })
  return () =>
    new Promise((resolve, reject) => {
      guarded.send(operation, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)))
    })
}

function withCockatiel(): () => Promise<ChargeResult> {
  const policy = cockatielBreaker(handleAll, { halfOpenAfter: 1000, breaker: new ConsecutiveBreaker(5) })
  return () => policy.execute(charge)
}

function withCockatielTimeout(): () => Promise<ChargeResult> {
  const breaker = cockatielBreaker(handleAll, { halfOpenAfter: 1000, breaker: new ConsecutiveBreaker(5) })
  const policy = wrap(breaker, timeout(TIMEOUT_MS, TimeoutStrategy.Aggressive))
  return () => policy.execute(charge)
}

function withOpossum(): () => Promise<ChargeResult> {
  const breaker = new CircuitBreaker(charge, { timeout: TIMEOUT_MS })
  return () => breaker.fire()
}
