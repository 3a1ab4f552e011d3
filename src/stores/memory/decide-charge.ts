import type { ChargeResult, Part } from '../operation.js'
import { evaluateCharge, type ReadState } from '../shared/apply-batch.js'
import { type MemoryStates, redirectToOverflow } from './memory-states.js'

/** Decides a charge. Keys for which there is no room share the overflow buckets of their limits. */
export function decideCharge(states: MemoryStates, parts: readonly Part[], nowMs: number): ChargeResult {
  const { table } = states
  const [only] = parts
  if (only !== undefined && parts.length === 1) {
    const { key, policy, cost } = only
    const step = table.take(policy, key, nowMs, cost)
    if (step !== undefined) return { type: 'charge', allowed: step.allowed, atMs: nowMs, parts: [step] }
    return decideInOverflow(states, parts, new Set([key]), nowMs)
  }
  const result = table.takeTogether(parts, nowMs)
  if (result !== undefined) return result
  const newKeys = new Set<string>()
  const readAndNote: ReadState = (key, policy) => {
    const state = states.read(key, policy)
    if (state === undefined) newKeys.add(key)
    return state
  }
  const { verdict, writes } = evaluateCharge(parts, readAndNote, nowMs)
  for (const key of newKeys) if (!writes.has(key)) newKeys.delete(key)
  if (!table.makeRoom(nowMs, newKeys.size, parts)) return decideInOverflow(states, parts, newKeys, nowMs)
  states.write(writes, nowMs)
  return verdict
}

/** Decides a charge whose new keys have no room. */
export function decideInOverflow(
  states: MemoryStates,
  charge: readonly Part[],
  newKeys: ReadonlySet<string>,
  nowMs: number,
): ChargeResult {
  const parts = redirectToOverflow(charge, newKeys, states.table.maxKeys)
  const { verdict, writes } = evaluateCharge(parts, (key, policy) => states.read(key, policy), nowMs)
  states.write(writes, nowMs)
  return verdict
}
