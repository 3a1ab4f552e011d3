import { isSamePolicy, type Policy } from '../../policies/policy.js'
import type { Operation, Outcome } from '../operation.js'
import { asStoreError } from '../store-error.js'
import { type ApplyInShard, jointCharges, spansShards } from './joint-charges.js'
import type { Run } from './run-operations.js'

/** At least one operation on one key, under its name in the store. All have one policy. */
export interface KeyedOperations {
  readonly key: string
  readonly policy: Policy
  readonly operations: readonly Operation[]
}

/** Applies operations on one key, in order. Calls `settle` once, with an outcome for each. Never throws. */
export type ApplyToKey = (keyed: KeyedOperations, settle: (outcomes: readonly Outcome[]) => void) => void

/** Operations that run together, and what to call with the outcome of each. */
interface KeyGroup extends KeyedOperations {
  readonly operations: Operation[]
  readonly settles: ((outcome: Outcome) => void)[]
  readonly apply: ApplyToKey
}

/** The list of a key for which no group waits. Shared, since maps keep what was removed from them for long. */
const NONE: KeyGroup[] = []

/** Each key is a shard of its own. */
const ofItself = (key: string) => key

/**
 * Returns a function that runs operations, for a store in which every key is a shard. Different keys run at the
 * same time, but those of one charge in order. Operations on one key never overlap, so that a process does not
 * compete with itself: those that wait for the key run together, as far as they have one policy and one
 * function that applies them. `name` is that of the store, `applierOf` returns that function, `storageKey` the
 * name under which the server keeps a key, and `now` the time of a charge that has no keys.
 */
export function runByKey(
  name: string,
  applierOf: (operation: Operation, policy: Policy) => ApplyToKey,
  storageKey: (key: string) => string,
  now: () => number = Date.now,
): Run {
  /** The groups that wait for each key in use. */
  const waitingFor = new Map<string, KeyGroup[]>()

  /**
   * Adds an operation to the last group of its key, or begins a new one, which waits while the key is in use.
   * With `free`, a group that may begin is put there instead, so that others of its batch can join it. If a
   * user's `storageKey` throws, the operation fails alone.
   */
  function enqueue(
    operation: Operation,
    settle: (outcome: Outcome) => void,
    free?: Map<string, KeyGroup>,
  ): void {
    let key: string
    const keyed = operation.type === 'charge' ? operation.parts[0] : operation
    if (keyed === undefined) throw new TypeError('a charge of no key has no place among keys')
    const { policy } = keyed
    try {
      key = storageKey(keyed.key)
    } catch (cause) {
      settle(asStoreError(name, cause))
      return
    }
    const apply = applierOf(operation, policy)
    const waiting = waitingFor.get(key)
    const last = waiting?.at(-1) ?? free?.get(key)
    if (last?.apply === apply && isSamePolicy(last.policy, policy)) {
      last.operations.push(operation)
      last.settles.push(settle)
      return
    }
    const group: KeyGroup = { key, policy, operations: [operation], settles: [settle], apply }
    if (waiting !== undefined && waiting !== NONE) waiting.push(group)
    else if (waiting !== undefined || last !== undefined) waitingFor.set(key, [group])
    else if (free !== undefined) free.set(key, group)
    else begin(group)
  }

  function begin(group: KeyGroup): void {
    const { key, settles } = group
    if (!waitingFor.has(key)) waitingFor.set(key, NONE)
    group.apply(group, (outcomes) => {
      const next = waitingFor.get(key)?.shift()
      if (next === undefined) waitingFor.delete(key)
      else begin(next)
      let i = 0
      for (const settle of settles) settle(outcomes[i++] as Outcome)
    })
  }

  const applyAlone: ApplyInShard = (operation, settle) => enqueue(operation, settle)
  const decideJointly = jointCharges(ofItself, applyAlone, now)

  function runBatch(
    operations: readonly Operation[],
    settleIndex: (index: number, outcome: Outcome) => void,
  ): void {
    const free = new Map<string, KeyGroup>()
    const applyInBatch: ApplyInShard = (operation, settle) => enqueue(operation, settle, free)
    let next = 0
    for (const operation of operations) {
      const index = next++
      const settle = (outcome: Outcome) => settleIndex(index, outcome)
      if (spansShards(operation, ofItself)) decideJointly(operation, settle, applyInBatch)
      else enqueue(operation, settle, free)
    }
    for (const group of free.values()) begin(group)
  }

  return function runEachKey(operations, settle) {
    const [first] = operations
    return new Promise((resolve) => {
      if (operations.length === 1 && (first?.type !== 'charge' || first.parts.length === 1)) {
        enqueue(first as Operation, (outcome) => resolve([outcome]))
        return
      }
      const outcomes = new Array<Outcome>(operations.length)
      let missing = operations.length
      if (missing === 0) resolve(outcomes)
      runBatch(operations, (index, outcome) => {
        outcomes[index] = outcome
        settle?.(index, outcome)
        if (--missing === 0) resolve(outcomes)
      })
    })
  }
}

/**
 * Creates the function that applies operations to a key from one that returns a promise. If the promise
 * rejects, all of its operations have failed.
 */
export function applyByPromise(
  store: string,
  apply: (keyed: KeyedOperations) => Promise<readonly (Outcome | Error)[]>,
): ApplyToKey {
  return (keyed, settle) => {
    apply(keyed).then(
      (results) => settle(outcomesOf(store, results)),
      (cause) => settle(failedOutcomes(store, keyed, cause)),
    )
  }
}

/** Returns the outcomes of operations of which each may have failed alone. */
export function outcomesOf(store: string, results: readonly (Outcome | Error)[]): readonly Outcome[] {
  const outcomes: Outcome[] = []
  for (const result of results) outcomes.push(result instanceof Error ? asStoreError(store, result) : result)
  return outcomes
}

/** Returns the outcomes of operations that have failed together. */
export function failedOutcomes(store: string, { operations }: KeyedOperations, cause: unknown): Outcome[] {
  const error = asStoreError(store, cause)
  return operations.map(() => error)
}
