import { callback, readOptions, withDefault } from '../../options/option-table.js'
import type { Policy, State, Step } from '../../policies/policy.js'
import { whole } from '../../util/validate.js'
import type { ChargeResult, Operation, Outcome, Part, PartResult, Refund, Renew } from '../operation.js'
import { applyOperation, FORGOTTEN, type KeyOperation } from '../shared/apply-operation.js'
import { type Evaluation, evaluateCharge, type Read } from '../shared/evaluate-charge.js'
import { checkOperations } from '../shared/validate.js'
import type { LocalLimit } from '../store.js'
import { asStoreError, StoreError } from '../store-error.js'
import { monotonicNow, validateClock } from './clock.js'
import type { MemoryStore } from './contract.js'
import type { HashStart } from './key-hash.js'
import { isOverflowKey, overflowBuckets, overflowKey, redirectToOverflow } from './overflow.js'
import { type Hash, StateTable } from './state-table.js'

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The most keys stored at once. Default 1,000,000. */
  maxKeys?: number
  /** Milliseconds since the Unix epoch, for simulations and tests. Default: a clock that never steps. */
  clock?: () => number
}

const OPTIONS = {
  rows: { maxKeys: withDefault(1_000_000, whole(1, 100_000_000)), clock: callback<() => number> },
  fixes: { max: 'maxKeys', size: 'maxKeys' },
}

/** One sweep per this many charges, so that fresh states are removed even if no new keys arrive. */
const CHARGES_PER_SWEEP = 16

/**
 * Creates a store in this process's memory: for one process, for tests, and as a local fallback.
 *
 * - A decision is one synchronous step, without a promise. There are no timers.
 * - States lie in typed arrays under 64-bit hashes of their keys; the keys themselves are not kept. A token
 *   bucket takes 25 to 50 bytes. Memory grows and shrinks page by page, without a pause. Each store hashes
 *   under a random secret, so that nobody can aim at another client's state; the odds that any two of ten
 *   million keys collide are one in 370,000.
 * - At most `maxKeys` keys. Fresh states are removed first. When all are in use, the one nearest to fresh,
 *   among up to 32 examined, is evicted; never a client at its limit. When there is no other, new keys share
 *   one overflow bucket per limit, which the process warning `HEADGATE_MEMORY_FULL` reports once.
 *
 * Throws a `TypeError` for wrong options.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys, clock } = readOptions('memoryStore', options, OPTIONS)
  const now = clock === undefined ? monotonicNow : validateClock(clock)
  const table = new StateTable(maxKeys)
  const overflow = overflowBuckets()
  let charged = 0

  function decide(charge: readonly Part[], nowMs: number): ChargeResult {
    const only = charge[0]
    if (charge.length === 1 && only !== undefined) return decideOne(only, nowMs)
    if (++charged % CHARGES_PER_SWEEP === 0) table.sweep(nowMs)
    return decideMany(charge, nowMs)
  }

  function decideOne(part: Part, nowMs: number): ChargeResult {
    const step = take(part.policy, part.key, nowMs, part.cost)
    if (step === undefined) return decideInOverflow([part], new Set([part.key]), nowMs)
    return { type: 'charge', allowed: step.allowed, atMs: nowMs, parts: [step] }
  }

  /** Returns the step of a key, which is `key` whole or between `start` and `end`; none without room. */
  function take(
    policy: Policy,
    key: string,
    nowMs: number,
    cost: number,
    start?: HashStart,
    end?: string,
  ): Step | undefined {
    if (++charged % CHARGES_PER_SWEEP === 0) table.sweep(nowMs)
    const isStored = table.seek(key, policy, start, end)
    const step = policy.take(isStored ? table.read() : undefined, nowMs, cost)
    if (step.next === undefined) return step
    if (isStored) table.write(step.next)
    else if (table.makeRoom(nowMs, 1)) table.add(policy, step.next)
    else return undefined
    return step
  }

  function limitOf(policy: Policy, before: string, after: string): LocalLimit {
    let start: HashStart | undefined // at the first charge: `KeyHash` needs a random secret
    return {
      now,
      take(identity, nowMs, cost) {
        start ??= table.startAfter(before)
        const step = take(policy, identity, nowMs, cost, start, after)
        if (step !== undefined) return step
        const key = before + identity + after
        const { parts } = decideInOverflow([{ key, policy, cost }], new Set([key]), nowMs)
        return parts[0] as PartResult
      },
    }
  }

  /** Decides a charge of several keys. If all of its parts are allowed, each key is hashed only once. */
  function decideMany(charge: readonly Part[], nowMs: number): ChargeResult {
    const hashes: Hash[] = []
    const steps: Step[] = []
    const newKeys: string[] = []
    for (const part of charge) {
      const isStored = table.seek(part.key, part.policy)
      const hash = table.selected
      const step = part.policy.take(isStored ? table.read().slice() : undefined, nowMs, part.cost)
      if (!step.allowed || hashes.some(({ low }) => low === hash.low)) return decideInFull(charge, nowMs)
      if (!isStored && step.next !== undefined) newKeys.push(part.key)
      hashes.push(hash)
      steps.push(step)
    }
    if (newKeys.length > 0 && !table.makeRoom(nowMs, newKeys.length, hashes))
      return decideInOverflow(charge, new Set(newKeys), nowMs)
    for (const [i, { next }] of steps.entries()) {
      const { policy } = charge[i] as Part
      if (next === undefined) continue
      if (table.select(hashes[i] as Hash, policy)) table.write(next)
      else table.add(policy, next)
    }
    return { type: 'charge', allowed: true, atMs: nowMs, parts: steps }
  }

  /** Decides a charge that a key may deny, or that names a key several times. */
  function decideInFull(charge: readonly Part[], nowMs: number): ChargeResult {
    const newKeys = new Set<string>()
    const hashes: Hash[] = []
    const readAndNote: Read = (key, policy) => {
      const state = read(key, policy)
      hashes.push(table.selected)
      if (state === undefined) newKeys.add(key)
      return state
    }
    const { verdict, writes } = evaluateCharge(charge, readAndNote, nowMs)
    for (const key of newKeys) if (!writes.has(key)) newKeys.delete(key)
    if (newKeys.size > 0 && !table.makeRoom(nowMs, newKeys.size, hashes))
      return decideInOverflow(charge, newKeys, nowMs)
    write(writes)
    return verdict
  }

  /** Decides a charge whose new keys have no room. */
  function decideInOverflow(
    charge: readonly Part[],
    newKeys: ReadonlySet<string>,
    nowMs: number,
  ): ChargeResult {
    const redirected = redirectToOverflow(charge, newKeys, maxKeys)
    const { verdict, writes } = evaluateCharge(redirected, read, nowMs)
    write(writes)
    return verdict
  }

  /** Returns the state of a key; that of an overflow bucket is then the most recently used one. */
  function read(key: string, policy: Policy): State | undefined {
    if (!isOverflowKey(key)) return table.seek(key, policy) ? table.read().slice() : undefined
    const state = overflow.get(key)
    if (state !== undefined) overflow.set(key, state)
    return state
  }

  function write(writes: Evaluation['writes']): void {
    for (const [key, { policy, state }] of writes) {
      if (isOverflowKey(key)) overflow.set(key, state)
      else if (table.seek(key, policy)) table.write(state)
      else table.add(policy, state)
    }
  }

  /** Applies an operation to a key, or to the overflow bucket that stands in for it. */
  function applyToKey(operation: KeyOperation, nowMs: number): Outcome {
    switch (operation.type) {
      case 'forget':
        table.forget(operation.key)
        return FORGOTTEN
      case 'refund':
      case 'renew':
        return applyToUnits(operation, nowMs)
      default:
        return applyToState(operation, nowMs)
    }
  }

  /** Changes units that a charge took, which may be those of an overflow bucket. */
  function applyToUnits(operation: Refund | Renew, nowMs: number): Outcome {
    const { key, policy } = operation
    const isStored = table.seek(key, policy)
    const bucket = isStored ? undefined : overflow.get(overflowKey(operation))
    const before = isStored ? table.read().slice() : bucket
    const { state, result } = applyOperation(operation, before, nowMs)
    if (state === before) return result
    const isInTable = isStored || (bucket === undefined && table.makeRoom(nowMs, 1))
    if (isInTable) put(isStored, policy, state)
    else if (state === undefined) overflow.delete(overflowKey(operation))
    else overflow.set(overflowKey(operation), state)
    return result
  }

  function applyToState(operation: KeyOperation, nowMs: number): Outcome {
    const { key, policy } = operation
    const isStored = table.seek(key, policy)
    const before = isStored ? table.read().slice() : undefined
    const { state, result } = applyOperation(operation, before, nowMs)
    if (state === before) return result
    if (!isStored && !table.makeRoom(nowMs, 1))
      return new StoreError('memory', `it holds maxKeys (${maxKeys}) clients, all of them in use`)
    put(isStored, policy, state)
    return result
  }

  /** Writes the state of the key that was sought last. */
  function put(isStored: boolean, policy: Policy, state: State | undefined): void {
    if (state === undefined) table.remove()
    else if (isStored) table.write(state)
    else table.add(policy, state)
  }

  function applyOne(operation: Operation, nowMs: number): Outcome {
    try {
      return operation.type === 'charge' ? decide(operation.parts, nowMs) : applyToKey(operation, nowMs)
    } catch (cause) {
      return asStoreError('memory', cause) // a policy of the user's own threw
    }
  }

  const apply: MemoryStore['apply'] = (operations) => {
    checkOperations('memoryStore', operations)
    const nowMs = now()
    return operations.map((operation) => applyOne(operation, nowMs))
  }

  return {
    name: 'memory',
    apply,
    local: { apply, limitOf, createSibling: () => memoryStore(options) },
    get size() {
      return table.size
    },
  }
}
