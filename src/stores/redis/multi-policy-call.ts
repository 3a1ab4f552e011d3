import { isSamePolicy, type Policy, type State } from '../../policies/policy.js'
import { indexIn } from '../../util/group-by.js'
import { keysOf, type Operation, type Outcome, type Result } from '../operation.js'
import { applyBatch, type KeyOperation } from '../shared/apply-batch.js'
import { foreignKeyError } from '../shared/state-codec.js'
import { asStoreError } from '../store-error.js'
import { chargeScript, operationScript } from './lua/multi-policy.js'
import { encodePolicy } from './policy-codec.js'
import type { Reading, ScriptCall } from './script-call.js'

/**
 * Returns the call that applies operations of any keys and policies, in order. Charges alone have a shorter
 * script. The reply is read as in `singlePolicyCall`. Returns `undefined` if several operations name one key
 * under different policies: a call has one policy for each key. Throws if one charge does. `atMs` is as for
 * `encodePolicy`.
 */
export function multiPolicyCall(operations: readonly Operation[], atMs?: number): ScriptCall | undefined {
  const indexByKey = new Map<string, number>()
  const policyOf: Policy[] = []
  for (const { key, policy } of operations.flatMap(keysOf)) {
    const index = indexIn(indexByKey, key)
    const other = policyOf[index]
    policyOf[index] = policy
    if (other === undefined || other === policy || isSamePolicy(other, policy)) continue
    if (operations.length > 1) return undefined
    throw new TypeError(`redisStore: a charge names the key ${key} under two policies.`)
  }
  const policies = new Map<string, number>()
  const policyNumbers = policyOf.map((policy) => 1 + indexIn(policies, encodePolicy(policy, atMs).json))

  function encode(operation: Operation): readonly (number | string)[] {
    if (operation.type === 'charge')
      return operation.parts.flatMap(({ key, cost }) => [1 + indexIn(indexByKey, key), cost])
    return [operation.type, 1 + indexIn(indexByKey, operation.key), ...numbersOf(operation)]
  }

  function outcomesFrom({ atMs, states, refusal }: Reading): readonly Outcome[] {
    const read = (key: string): State | undefined => {
      const state = states[indexIn(indexByKey, key)]
      if (state === undefined) throw foreignKeyError('redis', key)
      return state.some((number) => number !== 0) ? state : undefined
    }
    if (refusal === undefined) {
      const { results } = applyBatch(operations, read, atMs)
      return results.map(asOutcome)
    }
    return operations.flatMap((operation) => {
      const { results, writes } = applyBatch([operation], read, atMs)
      return results.map((result) => {
        const isDenial = 'allowed' in result && !result.allowed // not counted, but decided
        return writes.size > 0 && !isDenial ? refusal : asOutcome(result)
      })
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

function asOutcome(result: Result | Error): Outcome {
  return result instanceof Error ? asStoreError('redis', result) : result
}
