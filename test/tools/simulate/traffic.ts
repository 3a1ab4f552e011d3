import { createLimiter, type Decision, type Limiter, leased, type Store } from 'headgate'
import { weakMemo } from '../../../src/util/memo.js'
import { drawKey, exponential, randomFrom, zipfShares } from './random.js'
import { policyOf, type Scenario } from './scenario.js'

/** A request: when, in milliseconds since the start, and of which client. */
interface Arrival {
  readonly atMs: number
  readonly key: number
}

/** Options of `sendTraffic`. */
export interface TrafficOptions {
  readonly scenario: Scenario
  /** Which of the processes this is, from 0. */
  readonly process: number
  readonly limiter: Limiter<string>
  readonly onArrival?: (key: number) => void
  readonly onDecision: (key: number, decision: Decision, waitedMs: number) => void
}

/** Timers are not more exact than this. */
const TOLERANCE_MS = 0.001

/** Creates the limiter of one process, for clients whose keys are strings. */
export function limiterFor(scenario: Scenario, store: Store): Limiter<string> {
  const { processes, lease } = scenario
  const limiter = createLimiter<string>({
    name: 'simulated',
    policy: policyOf(scenario),
    key: (client) => client,
    store: lease ? leased(store, { processes }) : store,
    denyCache: scenario['deny-cache'] || false,
    onStoreError: scenario['on-store-error'],
    ...(scenario['on-store-error'] === 'local' ? { fallbackShare: 1 / processes } : {}),
  })
  limiter.events.on('storeError', () => {}) // counted by the source of the decision
  return limiter
}

/**
 * Sends one process its part of a scenario's requests, in real or in virtual time. Resolves when all of them
 * have been decided.
 */
export function sendTraffic({ scenario, process, limiter, onArrival, onDecision }: TrafficOptions) {
  const arrivals = arrivalsAt(scenario, process)
  const startMs = performance.now()
  let undecided = 0
  let next = arrivals.next().value

  async function decide(key: number): Promise<void> {
    undecided++
    onArrival?.(key)
    const arrivedMs = performance.now()
    const decision = await limiter.charge(`client-${key}`)
    onDecision(key, decision, performance.now() - arrivedMs)
    undecided--
  }

  return new Promise<void>((resolve, reject) => {
    const decideOne = (key: number) => decide(key).then(resolveIfDone, reject)
    const resolveIfDone = () => {
      if (next === undefined && undecided === 0) resolve()
    }
    function sendDue(): void {
      const elapsedMs = performance.now() - startMs
      for (; next && next.atMs <= elapsedMs + TOLERANCE_MS; next = arrivals.next().value) decideOne(next.key)
      if (next) setTimeout(sendDue, next.atMs - elapsedMs)
      else resolveIfDone()
    }
    sendDue()
  })
}

/** Yields the requests that arrive at one process: Poisson, the same for the same seed. */
function* arrivalsAt(scenario: Scenario, process: number): Generator<Arrival, undefined> {
  const { processes, rate, seconds, tick, seed } = scenario
  const random = randomFrom(seed * 10_000 + process)
  const shares = sharesOf(scenario)
  const perMs = rate / processes / 1000
  for (let atMs = exponential(random, perMs); atMs < seconds * 1000; atMs += exponential(random, perMs)) {
    yield { atMs: tick === 0 ? atMs : Math.ceil(atMs / tick) * tick, key: drawKey(random, shares) }
  }
  return undefined
}

/** Returns the cumulative shares of the keys, which all processes have in common. */
const sharesOf = weakMemo(({ keys, zipf }: Scenario) => zipfShares(keys, zipf))
