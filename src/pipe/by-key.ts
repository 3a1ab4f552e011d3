import { isSamePolicy, type Policy } from '../policies/policy.js'
import type { Operation, Outcome } from '../stores/operation.js'
import type { Run } from '../stores/shared/run-operations.js'
import { asStoreError } from '../stores/store-error.js'
import { sharedByRequests } from '../util/shared-by-requests.js'
import { ADDITIONS_PER_MAP } from '../util/worn-map.js'
import { type ApplyInShard, jointCharges, spansShards } from './joint-charges.js'

/** One or more operations on one key, all of one policy. */
export interface KeyedOperations {
  /** The name under which the store keeps the key. */
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
  hasBegun: boolean
  /** The group that begins when this one has its outcomes. */
  next: KeyGroup | undefined
}

/** Each key is its own shard. */
const shardOf = (key: string) => key

/**
 * Returns a function that runs operations, for a store in which every key is a shard.
 *
 * Operations on different keys run at the same time, except that the parts of a charge run in order.
 * Operations on one key never overlap, so a process does not compete with itself. Those that wait for a key
 * run together if they have the same policy and the same applier. On isolates, operations of different
 * requests do not wait for one another, and so compete for a key.
 *
 * `name` is the store's name. `applierOf` returns the function that applies an operation, and `storageKey`
 * the name under which the server keeps a key. `now` returns the time for charges without keys.
 */
export function runByKey(
  name: string,
  applierOf: (operation: Operation, policy: Policy) => ApplyToKey,
  storageKey: (key: string) => string,
  now: () => number = Date.now,
): Run {
  return sharedByRequests(() => keyQueues(name, applierOf, storageKey, now))
}

function keyQueues(
  name: string,
  applierOf: (operation: Operation, policy: Policy) => ApplyToKey,
  storageKey: (key: string) => string,
  now: () => number,
): Run {
  /** By key in use: its last group. */
  let lastGroups = new Map<string, KeyGroup>()
  let additions = 0

  /**
   * Adds an operation to the last group of its key, if that has not begun, and they can run together.
   * Otherwise makes a new group. If the key is free, the group begins at once, or is put into `startable`,
   * so that other operations of the batch can join it first. If a user's `storageKey` throws, the operation
   * fails alone.
   */
  function enqueue(operation: Operation, settle: (outcome: Outcome) => void, startable?: KeyGroup[]): void {
    let key: string
    const keyed = operation.type === 'charge' ? operation.parts[0] : operation
    if (keyed === undefined) throw new TypeError(`${name}: a charge without keys cannot be applied to a key`)
    const { policy } = keyed
    try {
      key = storageKey(keyed.key)
    } catch (cause) {
      settle(asStoreError(name, cause))
      return
    }
    const apply = applierOf(operation, policy)
    const last = lastGroups.get(key)
    if (last?.hasBegun === false && last.apply === apply && isSamePolicy(last.policy, policy)) {
      last.operations.push(operation)
      last.settles.push(settle)
      return
    }
    const group: KeyGroup = {
      key,
      policy,
      operations: [operation],
      settles: [settle],
      apply,
      hasBegun: false,
      next: undefined,
    }
    if (++additions > ADDITIONS_PER_MAP + lastGroups.size) {
      lastGroups = new Map(lastGroups)
      additions = 0
    }
    lastGroups.set(key, group)
    if (last !== undefined) last.next = group
    else if (startable !== undefined) startable.push(group)
    else begin(group)
  }

  function begin(group: KeyGroup): void {
    group.hasBegun = true
    group.apply(group, (outcomes) => {
      if (group.next === undefined) lastGroups.delete(group.key)
      else begin(group.next)
      let i = 0
      for (const settle of group.settles) settle(outcomes[i++] as Outcome)
    })
  }

  const applyAlone: ApplyInShard = (operation, settle) => enqueue(operation, settle)
  const decideJointly = jointCharges(shardOf, applyAlone, now)

  function runBatch(
    operations: readonly Operation[],
    settleIndex: (index: number, outcome: Outcome) => void,
  ): void {
    const startable: KeyGroup[] = []
    const applyInBatch: ApplyInShard = (operation, settle) => enqueue(operation, settle, startable)
    let next = 0
    for (const operation of operations) {
      const index = next++
      const settle = (outcome: Outcome) => settleIndex(index, outcome)
      if (spansShards(operation, shardOf)) decideJointly(operation, settle, applyInBatch)
      else enqueue(operation, settle, startable)
    }
    for (const group of startable) begin(group)
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
