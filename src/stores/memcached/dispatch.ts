import type { Policy } from '../../policies/policy.js'
import { groupBy } from '../../util/group-by.js'
import { batcher } from '../shared/batcher.js'
import type { Charge, KeyedPolicy, Part, Refund, Verdict } from '../store.js'
import { casStrategy } from './cas-strategy.js'
import type { Transport } from './connection.js'
import { counterStrategy } from './counter-strategy.js'
import { countersOf } from './counters.js'
import type { Strategy } from './operations.js'
import { itemKey } from './protocol.js'

const MAX_CHARGES = 256
/** One batch is in flight while the next one gathers. */
const MAX_IN_FLIGHT = 2
/** A batch that takes longer no longer holds up others: the server is far away. */
const STALL_TIMEOUT_MS = 3

/** Runs operations on single keys, each by the strategy for its policy. */
export function dispatcher(transport: Transport, now: () => number) {
  const counters = counterStrategy(transport, now)
  const compareAndSwap = casStrategy(transport, now)
  const strategyFor = (policy: Policy): Strategy => (countersOf(policy) ? counters : compareAndSwap)

  const charge = batcher<Charge, Verdict>(
    async (charges, answer) => {
      const partOf = (i: number) => charges[i]?.[0] as Part
      const decideTogether = async ([key, positions]: [string, number[]]) => {
        const { policy } = partOf(positions[0] as number)
        const own = positions.map((i) => charges[i] as Charge)
        const results = await strategyFor(policy)
          .charge(key, own, policy)
          .catch((error: Error) => positions.map(() => error))
        positions.forEach((position, i) => {
          answer(position, results[i] as Verdict | Error)
        })
      }
      const byKey = groupBy(charges.keys(), (i) => itemKey(partOf(i).key))
      await Promise.all(Array.from(byKey, decideTogether))
    },
    { maxWeight: MAX_CHARGES, maxInFlight: MAX_IN_FLIGHT, stallTimeoutMs: STALL_TIMEOUT_MS },
  )

  return {
    /** Decides charges whose parts all name one key; those of one batch that name the same key together. */
    charge,
    refund: (refund: Refund) => strategyFor(refund.policy).refund(itemKey(refund.key), refund),
    forget: ({ key, policy }: KeyedPolicy) => strategyFor(policy).forget(itemKey(key), policy),
  }
}
