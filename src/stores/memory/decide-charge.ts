import type { Step } from '../../policies/policy.js'
import type { ChargeResult, Part } from '../operation.js'
import { evaluateCharge, type ReadState } from '../shared/apply-batch.js'
import { type MemoryStates, redirectToOverflow } from './memory-states.js'
import type { Hash } from './state-table.js'

/** Decides a charge. Keys for which there is no room share the overflow buckets of their limits. */
export function decideCharge(states: MemoryStates, charge: readonly Part[], nowMs: number): ChargeResult {
  const [only, ...others] = charge
  if (only === undefined || others.length > 0) return decideTogether(states, charge, nowMs)
  const step = states.table.take(only.policy, only.key, nowMs, only.cost)
  if (step === undefined) return decideInOverflow(states, charge, new Set([only.key]), nowMs)
  return { type: 'charge', allowed: step.allowed, atMs: nowMs, parts: [step] }
}

/** Decides a charge of several parts. If all of them are allowed, hashes each key only once. */
function decideTogether(states: MemoryStates, charge: readonly Part[], nowMs: number): ChargeResult {
  const { table } = states
  const hashes: Hash[] = []
  const steps: Step[] = []
  const newKeys: string[] = []
  table.countCharge(nowMs)
  for (const { key, policy, cost } of charge) {
    const isStored = table.seek(key, policy)
    const hash = table.selected
    const step = policy.take(isStored ? table.read().slice() : undefined, nowMs, cost)
    if (!step.allowed || hashes.some(({ low }) => low === hash.low)) return evaluate(states, charge, nowMs)
    if (!isStored && step.next !== undefined) newKeys.push(key)
    hashes.push(hash)
    steps.push(step)
  }
  if (newKeys.length > 0 && !table.makeRoom(nowMs, newKeys.length, hashes))
    return decideInOverflow(states, charge, new Set(newKeys), nowMs)
  for (let i = 0; i < steps.length; i++) {
    const policy = charge[i]?.policy
    const hash = hashes[i]
    const next = steps[i]?.next
    if (policy === undefined || hash === undefined || next === undefined) continue
    table.select(hash, policy)
    table.put(policy, next)
  }
  return { type: 'charge', allowed: true, atMs: nowMs, parts: steps }
}

/** Evaluates a charge that a key may deny, or that names a key several times. */
function evaluate(states: MemoryStates, charge: readonly Part[], nowMs: number): ChargeResult {
  const newKeys = new Set<string>()
  const hashes: Hash[] = []
  const readAndNote: ReadState = (key, policy) => {
    const state = states.read(key, policy)
    hashes.push(states.table.selected)
    if (state === undefined) newKeys.add(key)
    return state
  }
  const { verdict, writes } = evaluateCharge(charge, readAndNote, nowMs)
  for (const key of newKeys) if (!writes.has(key)) newKeys.delete(key)
  if (newKeys.size > 0 && !states.table.makeRoom(nowMs, newKeys.size, hashes))
    return decideInOverflow(states, charge, newKeys, nowMs)
  states.write(writes)
  return verdict
}

/** Decides a charge whose new keys have no room. */
export function decideInOverflow(
  states: MemoryStates,
  charge: readonly Part[],
  newKeys: ReadonlySet<string>,
  nowMs: number,
): ChargeResult {
  const redirected = redirectToOverflow(charge, newKeys, states.table.maxKeys)
  const { verdict, writes } = evaluateCharge(redirected, (key, policy) => states.read(key, policy), nowMs)
  states.write(writes)
  return verdict
}
