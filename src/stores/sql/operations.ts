import { keysOf, type Operation } from '../operation.js'
import { applyBatch, type Writes } from '../shared/apply-batch.js'
import type { Changes, Decision, LockedRows, Row } from './dialect.js'
import { CorruptRowError } from './errors.js'
import { expiryS } from './expiry.js'
import { rowKey } from './table.js'

/** Returns the keys of all rows to lock, in one order for all processes, which prevents deadlocks. */
export function rowKeysOf(operations: readonly Operation[]): string[] {
  return [...new Set(operations.flatMap(keysOf).map(({ key }) => rowKey(key)))].sort()
}

/** Applies the operations to the rows, in order. One that fails changes nothing; the others still apply. */
export function applyToRows(operations: readonly Operation[], rows: LockedRows): Decision {
  const read = (key: string) => {
    const row = rowKey(key)
    const state = rows.states.get(row)
    if (state === undefined && rows.states.has(row)) throw new CorruptRowError()
    return state
  }
  const { results, writes } = applyBatch(operations, read, rows.nowMs)
  return { results, changes: changesOf(writes, rows) }
}

function changesOf(writes: Writes, { states, nowMs }: LockedRows): Changes {
  const updated: Row[] = []
  const inserted: Row[] = []
  const deleted: string[] = []
  const byRow = [...writes].map(([key, write]) => [rowKey(key), write] as const)
  for (const [key, { policy, state }] of byRow.sort(([a], [b]) => (a < b ? -1 : 1))) {
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
