import type { Policy } from '../../policies/policy.js'
import { groupBy } from '../../util/group-by.js'
import type { Operation, Result } from '../operation.js'
import type { AnyResult } from '../shared/apply-in-order.js'
import { batcher } from '../shared/batcher.js'
import type { Charge, KeyedPolicy, Part, Refund, Verdict } from '../store.js'
import { casStrategy } from './cas-strategy.js'
import type { Transport } from './connection.js'
import { counterStrategy } from './counter-strategy.js'
import { countersOf } from './counters.js'
import { itemKey } from './protocol.js'

const MAX_CHARGES = 256
const MAX_IN_FLIGHT = 2
/** A batch that takes longer (the server is far away) no longer delays the next ones. */
const STALL_TIMEOUT_MS = 3

/** Creates a dispatcher that runs operations of one key each, by the strategy for its policy. */
export function dispatcher(transport: Transport) {
  const counters = counterStrategy(transport)
  const compareAndSwap = casStrategy(transport)
  const strategyFor = (policy: Policy) => (countersOf(policy) ? counters : compareAndSwap)

  const charges = batcher<Charge, Verdict>(
    async (charges, answer) => {
      const decideTogether = async ([key, entries]: [string, [number, Charge][]]) => {
        const own = entries.map(([, charge]) => charge)
        const [{ policy }] = own[0] as [Part]
        const results: readonly AnyResult[] = await strategyFor(policy)
          .charge(key, own, policy)
          .catch((error: Error) => own.map(() => error))
        for (const [i, [index]] of entries.entries()) answer(index, results[i] as Verdict | Error)
      }
      const byKey = groupBy(charges.entries(), ([, [part]]) => itemKey((part as Part).key))
      await Promise.all(Array.from(byKey, decideTogether))
    },
    {
      store: 'memcached',
      maxWeight: MAX_CHARGES,
      maxInFlight: MAX_IN_FLIGHT,
      stallTimeoutMs: STALL_TIMEOUT_MS,
    },
  )

  return {
    /** Decides charges of one key each. Charges of the same key in a batch are decided together. */
    charges,
    refund: (refund: Refund) => strategyFor(refund.policy).refund(itemKey(refund.key), refund),
    apply: async (operation: Operation) =>
      (await strategyFor(operation.policy).apply(itemKey(operation.key), operation)) as Result,
    forget: ({ key, policy }: KeyedPolicy) => strategyFor(policy).forget(itemKey(key), policy),
    serverOf: (key: string) => transport.serverOf(itemKey(key)),
  }
}
