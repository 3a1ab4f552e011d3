import type { Policy, State } from '../../policies/policy.js'
import { evaluateCharge } from '../shared/evaluate-charge.js'
import type { Charge, KeyedPolicy, Refund, Verdict } from '../store.js'
import type { Changes, LockedRows, Row } from './dialect.js'
import { CorruptRowError } from './errors.js'
import { expiryS } from './expiry.js'
import { rowKey } from './table.js'

export type Operation =
  | { readonly charge: Charge }
  | { readonly refund: Refund }
  | { readonly forget: KeyedPolicy }

/** The verdict of a charge, `undefined` for other operations; an error if the operation changed nothing. */
export type Result = Verdict | Error | undefined

/** Returns the keys that an operation reads or writes. */
export function lockKeys(operation: Operation): readonly string[] {
  if ('charge' in operation) return operation.charge.map(({ key }) => key)
  return [('refund' in operation ? operation.refund : operation.forget).key]
}

/** Returns the keys of all rows to lock, in one order for all processes, which prevents deadlocks. */
export function rowKeysOf(operations: readonly Operation[]): string[] {
  return [...new Set(operations.flatMap(lockKeys).map(rowKey))].sort()
}

/** By row: the state to write, and the policy that reads it. `undefined` removes the row. */
type Writes = Map<string, { readonly policy: Policy; readonly state: State | undefined }>

/** Applies the operations to the rows, in order. One that fails changes nothing; the others still apply. */
export function applyOperations(
  operations: readonly Operation[],
  rows: LockedRows,
): { readonly results: readonly Result[]; readonly changes: Changes } {
  const writes: Writes = new Map()
  const { states, nowMs } = rows

  function read(key: string): State | undefined {
    const row = rowKey(key)
    const written = writes.get(row)
    if (written !== undefined) return written.state
    const state = states.get(row)
    if (state === undefined && states.has(row)) throw new CorruptRowError()
    return state
  }

  function apply(operation: Operation): Result {
    if ('charge' in operation) {
      const { verdict, writes: taken } = evaluateCharge(operation.charge, read, nowMs)
      for (const [key, write] of taken) writes.set(rowKey(key), write)
      return verdict
    }
    if ('forget' in operation) {
      const { key, policy } = operation.forget
      writes.set(rowKey(key), { policy, state: undefined })
      return undefined
    }
    const { key, policy, cost, takenAtMs, resetAtMs } = operation.refund
    const state = read(key)
    if (state === undefined) return undefined
    writes.set(rowKey(key), { policy, state: policy.refund(state, nowMs, cost, takenAtMs, resetAtMs) })
    return undefined
  }

  const results = operations.map((operation) => {
    try {
      return apply(operation)
    } catch (error) {
      return error as Error
    }
  })
  return { results, changes: changesOf(writes, rows) }
}

function changesOf(writes: Writes, { states, nowMs }: LockedRows): Changes {
  const updated: Row[] = []
  const inserted: Row[] = []
  const deleted: string[] = []
  for (const [key, { policy, state }] of [...writes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const exists = states.has(key)
    if (state === undefined) {
      if (exists) deleted.push(key)
    } else if (state !== states.get(key)) {
      const rows = exists ? updated : inserted
      rows.push({ key, state, expiresAtS: expiryS(policy, state, nowMs) })
    }
  }
  return { updated, inserted, deleted }
}
