import { setTimeout as pause } from 'node:timers/promises'
import { answerQuestions } from '../../../bench/harness/child.js'
import { type Random, randomFrom } from '../../simulate/random.js'
import { caller } from './caller.js'
import { limitersOn } from './limiters.js'
import { type HotLimit, limitNamed } from './limits.js'
import { type CallerTarget, openStore } from './open-store.js'
import type { Entry } from './sequential.js'

/** What a process has to do: several rounds, each on keys of its own. */
export interface Order {
  readonly seed: number
  /** The rounds' keys, as the limit's name and an identity. */
  readonly rounds: readonly (readonly (readonly [limit: string, identity: string])[])[]
  readonly callersPerKey: number
  readonly callsPerCaller: number
  /** When the first round begins, by the wall clock, and how long one lasts at least. */
  readonly startMs: number
  readonly roundMs: number
}

/** The calls of a process, by the identity of the key. */
export type Recorded = Readonly<Record<string, readonly Entry[]>>

/** For how long after a failure a refund may be sent later than its call returns. */
const FAILURE_MS = 2000

// Arguments: where the store is, the number of the process, how long a call may take, and how many processes
// there are.
const [target = '', place = '0', timeoutMs = '5000', processes = '3'] = process.argv.slice(2)
const store = await openStore(JSON.parse(target) as CallerTarget, Number(processes))
const limiters = limitersOn(store, Number(timeoutMs))
let lastFailureMs = Number.NEGATIVE_INFINITY
for (const { events } of Object.values(limiters).flatMap(({ current, older }) => [current, older]))
  events.on('storeError', () => {
    lastFailureMs = Date.now()
  })

/**
 * A counter in memcached may lose units if it is forgotten while charges are denied (docs/stores/memcached.md), or
 * rewarded: what a denied charge still counts is given back twice.
 */
function withoutLosses(limit: HotLimit): HotLimit {
  if (!limit.isCounted) return limit
  return { ...limit, calls: limit.calls.filter((type) => type !== 'forget' && type !== 'reward') }
}

async function playRounds(order: Order): Promise<Recorded> {
  const recorded: Record<string, Entry[]> = {}
  const random = randomFrom(order.seed + Number(place) * 7919)
  for (const [i, keys] of order.rounds.entries()) {
    const waitMs = order.startMs + i * order.roundMs - Date.now()
    if (waitMs > 0) await pause(waitMs)
    await Promise.all(
      keys.map(async ([limit, identity]) => {
        recorded[identity] = await playKey(limit, identity, order, random)
      }),
    )
  }
  return recorded
}

async function playKey(limit: string, identity: string, order: Order, random: Random): Promise<Entry[]> {
  const own = limiters[limit]
  const rules = store.name === 'memcached' ? withoutLosses(limitNamed(limit)) : limitNamed(limit)
  if (own === undefined) throw new Error(`There is no limit ${limit}.`)
  const entries: Entry[] = []
  const { callersPerKey, callsPerCaller } = order
  await Promise.all(
    Array.from({ length: callersPerKey }, (_, i) => {
      const firstDecision = (Number(place) * callersPerKey + i) * callsPerCaller
      const hasFailed = () => Date.now() - lastFailureMs < FAILURE_MS
      return caller(
        { limiters: own, rules, identity, random, firstDecision, entries, hasFailed },
        callsPerCaller,
      )
    }),
  )
  return entries
}

process.once('disconnect', () => process.exit()) // an open connection would keep it running
answerQuestions(playRounds)
