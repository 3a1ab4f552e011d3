import { type ApplyToKey, keyedPolicyOf } from '../shared/by-key.js'
import { casStrategy } from './cas-strategy.js'
import type { Transport } from './connection.js'
import { counterStrategy } from './counter-strategy.js'
import { countersOf } from './counters.js'

/** Creates a function that applies operations to a key by the strategy of its policy. */
export function dispatcher(transport: Transport): ApplyToKey {
  const counters = counterStrategy(transport)
  const compareAndSwap = casStrategy(transport)
  return (key, operations) => {
    const strategy = countersOf(keyedPolicyOf(operations[0]).policy) ? counters : compareAndSwap
    return strategy(key, operations)
  }
}
