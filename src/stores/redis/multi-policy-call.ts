import type { Policy, State } from '../../policies/policy.js'
import { keysOf, type Operation, type Outcome, type Result } from '../operation.js'
import { applyInOrder } from '../shared/apply-in-order.js'
import { type KeyOperation, REFUNDED } from '../shared/apply-operation.js'
import { asStoreError } from '../store-error.js'
import { foreignKeyError } from './errors.js'
import { chargeScript, operationScript } from './lua/multi-policy.js'
import { encodePolicy } from './policy-codec.js'
import { indexIn, type Reading, type ScriptCall } from './script-call.js'

/**
 * Returns the call that applies operations of any keys and policies, in order. Charges alone have a shorter
 * script. The reply is read as in `singlePolicyCall`.
 */
export function multiPolicyCall(operations: readonly Operation[]): ScriptCall {
  const indexByKey = new Map<string, number>()
  const policyOf: Policy[] = []
  for (const { key, policy } of operations.flatMap(keysOf)) policyOf[indexIn(indexByKey, key)] = policy
  const policies = new Map<string, number>()
  const policyNumbers = policyOf.map((policy) => 1 + indexIn(policies, encodePolicy(policy).json))
  const indexOf = (key: string) => indexByKey.get(key) as number

  function encode(operation: Operation): readonly (number | string)[] {
    if (operation.type === 'charge')
      return operation.parts.flatMap(({ key, cost }) => [1 + indexOf(key), cost])
    return [operation.type, 1 + indexOf(operation.key), ...numbersOf(operation)]
  }

  function outcomesFrom({ atMs, states, refusal }: Reading): readonly Outcome[] {
    const read = (key: string): State | undefined => {
      const state = states[indexOf(key)]
      if (state === undefined) throw foreignKeyError(key)
      return state.some((number) => number !== 0) ? state : undefined
    }
    if (refusal === undefined) {
      const { results } = applyInOrder(operations, read, atMs)
      return operations.map((operation, i) => outcomeOf(operation, results[i]))
    }
    return operations.map((operation) => {
      const { results, writes } = applyInOrder([operation], read, atMs)
      const result = outcomeOf(operation, results[0])
      const isDenial = 'allowed' in result && !result.allowed // not counted, but decided
      return writes.size > 0 && !isDenial ? refusal : result
    })
  }

  const isCharges = operations.every(({ type }) => type === 'charge')
  return {
    script: isCharges ? chargeScript() : operationScript(),
    keys: [...indexByKey.keys()],
    args: [
      `[${[...policies.keys()].join()}]`,
      JSON.stringify(policyNumbers),
      JSON.stringify(operations.map(encode)),
    ],
    widths: policyOf.map(({ width }) => width),
    outcomesFrom,
  }
}

function numbersOf(operation: KeyOperation): readonly number[] {
  switch (operation.type) {
    case 'forget':
      return []
    case 'block':
      return [operation.forMs]
    case 'take':
    case 'reward':
      return [operation.units]
    default: {
      const { cost, takenAtMs, resetAtMs } = operation
      if (resetAtMs === undefined) return [cost, takenAtMs]
      return [cost, takenAtMs, Math.min(resetAtMs, Number.MAX_SAFE_INTEGER)] // JSON has no Infinity
    }
  }
}

/** Returns the outcome of an operation. A foreign key has no units to refund. */
function outcomeOf(operation: Operation, result: Result | Error | undefined): Outcome {
  if (!(result instanceof Error)) return result as Result
  return operation.type === 'refund' ? REFUNDED : asStoreError('redis', result)
}
