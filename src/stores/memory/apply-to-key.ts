import type { Outcome, Refund, Renew } from '../operation.js'
import { applyOperation, FORGOTTEN, type KeyOperation } from '../shared/apply-batch.js'
import { StoreError } from '../store-error.js'
import type { MemoryStates } from './memory-states.js'
import { overflowKey } from './overflow.js'

/** Applies an operation to a key, or to the overflow bucket that its units came from. */
export function applyToKey(states: MemoryStates, operation: KeyOperation, nowMs: number): Outcome {
  switch (operation.type) {
    case 'forget':
      states.table.forget(operation.key)
      return FORGOTTEN
    case 'refund':
    case 'renew':
      return applyToUnits(states, operation, nowMs)
    default:
      return applyToState(states, operation, nowMs)
  }
}

/** Changes units that a charge took, which may be those of an overflow bucket. */
function applyToUnits(states: MemoryStates, operation: Refund | Renew, nowMs: number): Outcome {
  const { table, overflow } = states
  const { key, policy } = operation
  const isStored = table.seek(key, policy)
  const bucket = isStored ? undefined : overflow.get(overflowKey(operation))
  const before = isStored ? table.read().slice() : bucket
  const { state, result } = applyOperation(operation, before, nowMs)
  if (state === before) return result
  const isInTable = isStored || (bucket === undefined && table.makeRoom(nowMs, 1))
  if (isInTable) states.put(isStored, policy, state)
  else if (state === undefined) overflow.delete(overflowKey(operation))
  else overflow.set(overflowKey(operation), state)
  return result
}

function applyToState(states: MemoryStates, operation: KeyOperation, nowMs: number): Outcome {
  const { table, maxKeys } = states
  const { key, policy } = operation
  const isStored = table.seek(key, policy)
  const before = isStored ? table.read().slice() : undefined
  const { state, result } = applyOperation(operation, before, nowMs)
  if (state === before) return result
  if (!isStored && !table.makeRoom(nowMs, 1))
    return new StoreError('memory', `it holds maxKeys (${maxKeys}) clients, all of them in use`)
  states.put(isStored, policy, state)
  return result
}
