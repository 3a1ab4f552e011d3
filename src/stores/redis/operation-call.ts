import type { State } from '../../policies/policy.js'
import type { Operation, Result } from '../operation.js'
import { applyOperation } from '../shared/apply-operation.js'
import { renewUnits } from '../shared/renew-units.js'
import type { Refund } from '../store.js'
import type { StoreError } from '../store-error.js'
import { foreignKeyError } from './errors.js'
import { operationScript } from './lua/multi-policy.js'
import { indexKeys } from './multi-policy-call.js'
import type { Reading, ScriptCall } from './script-call.js'

/** An operation of one key. */
export type RedisOperation =
  | Operation
  | (Refund & { readonly type: 'refund' })
  | (Refund & { readonly type: 'renew' })

/** What comes of it: of a refund nothing, of a renewal when time alone would free the units. */
export type RedisResult = Result | number | undefined

/** Returns the call that applies operations of any keys and policies, in order. */
export function operationCall(items: readonly (readonly [RedisOperation])[]): ScriptCall<RedisResult> {
  const operations = items.flat()
  const { indexOf, keys, widths, args } = indexKeys(operations)
  const encoded = operations.map((each) => [each.type, 1 + indexOf(each.key), ...numbersOf(each)])

  /** Returns an operation's result on the states that the script read, and keeps the state that it wrote. */
  function resultOf(operation: RedisOperation, { atMs, states, refusal }: Reading): RedisResult | StoreError {
    const index = indexOf(operation.key)
    const read = states[index]
    if (read === undefined) return operation.type === 'refund' ? undefined : foreignKeyError(operation.key)
    const before = read.some((number) => number !== 0) ? read : undefined
    const { state, result } = apply(operation, before, atMs)
    if (state === before) return result
    if (refusal) return refusal
    states[index] = state ?? read.map(() => 0)
    return result
  }

  return {
    script: operationScript(),
    keys,
    args: [...args, JSON.stringify(encoded)],
    widths,
    resultsFrom: (reading) => operations.map((operation) => resultOf(operation, reading)),
  }
}

function numbersOf(operation: RedisOperation): readonly number[] {
  if (operation.type === 'block') return [operation.forMs]
  if (operation.type === 'take' || operation.type === 'reward') return [operation.units]
  const { cost, takenAtMs, resetAtMs } = operation
  // JSON has no Infinity.
  return [cost, takenAtMs, ...(resetAtMs === undefined ? [] : [Math.min(resetAtMs, Number.MAX_SAFE_INTEGER)])]
}

function apply(
  operation: RedisOperation,
  before: State | undefined,
  nowMs: number,
): { readonly state: State | undefined; readonly result: RedisResult } {
  if (operation.type === 'renew') {
    const { state, resetAtMs } = renewUnits(operation, before, nowMs)
    return { state, result: resetAtMs }
  }
  if (operation.type !== 'refund') return applyOperation(operation, before, nowMs)
  const { policy, cost, takenAtMs, resetAtMs } = operation
  return { state: before && policy.refund(before, nowMs, cost, takenAtMs, resetAtMs), result: undefined }
}
