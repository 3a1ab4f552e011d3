import type { Outcome } from '../operation.js'
import { applyOperation, FORGOTTEN, type KeyOperation } from '../shared/apply-batch.js'
import { StoreError } from '../store-error.js'
import { type MemoryStates, overflowKey } from './memory-states.js'

/** Applies an operation to a key, or to the overflow bucket that its units came from. */
export function applyToKey(
  { table, overflow }: MemoryStates,
  operation: KeyOperation,
  nowMs: number,
): Outcome {
  const { type, key, policy } = operation
  if (type === 'forget') {
    table.forget(key)
    return FORGOTTEN
  }
  const stored = table.read(key, policy)
  const isOnUnits = type === 'refund' || type === 'renew' // units that a charge took
  const bucketKey = isOnUnits && stored === undefined ? overflowKey(operation) : undefined
  const bucket = bucketKey === undefined ? undefined : overflow.get(bucketKey)
  const before = stored ?? bucket
  const { state, result } = applyOperation(operation, before, nowMs)
  if (state === before) return result
  if (stored !== undefined || (bucket === undefined && table.makeRoom(nowMs, 1))) {
    if (state === undefined) table.forget(key)
    else if (type === 'refund') table.putRefunded(key, policy, state, nowMs)
    else table.put(key, policy, state, nowMs)
  } else if (bucketKey === undefined)
    return new StoreError('memory', `the store holds maxKeys (${table.maxKeys}) clients, all of them in use`)
  else if (state === undefined) overflow.delete(bucketKey)
  else overflow.set(bucketKey, state)
  return result
}
