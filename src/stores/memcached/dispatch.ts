import type { Policy } from '../../policies/policy.js'
import { groupBy } from '../../util/group-by.js'
import { type KeyedPolicy, keysOf, type Operation, type Outcome } from '../operation.js'
import type { Run } from '../shared/run.js'
import { casStrategy } from './cas-strategy.js'
import type { Transport } from './connection.js'
import { counterStrategy } from './counter-strategy.js'
import { countersOf } from './counters.js'
import { itemKey } from './protocol.js'

/** Creates a dispatcher that runs operations of one key each, those of one key together, by its strategy. */
export function dispatcher(transport: Transport) {
  const counters = counterStrategy(transport)
  const compareAndSwap = casStrategy(transport)
  const strategyFor = (policy: Policy) => (countersOf(policy) ? counters : compareAndSwap)

  const run: Run = async (operations, answer) => {
    const applyTogether = async ([key, entries]: [string, [number, Operation][]]) => {
      const own = entries.map(([, operation]) => operation)
      const outcomes = await strategyFor(onlyKeyOf(own[0] as Operation).policy)(key, own)
      for (const [i, [index]] of entries.entries()) answer(index, outcomes[i] as Outcome)
    }
    const byKey = groupBy(operations.entries(), ([, operation]) => itemKey(onlyKeyOf(operation).key))
    await Promise.all(Array.from(byKey, applyTogether))
  }

  return { run, serverOf: (key: string) => transport.serverOf(itemKey(key)) }
}

function onlyKeyOf(operation: Operation): KeyedPolicy {
  return keysOf(operation)[0] as KeyedPolicy
}
