import { isSamePolicy } from '../../policies/policy.js'
import { type KeyedPolicy, type Operation, type Outcome, onlyPartOf } from '../operation.js'
import { asStoreError } from '../store-error.js'
import { type ApplyInShard, jointCharges, spansShards } from './joint-charges.js'
import type { Run } from './run-operations.js'

/**
 * Applies operations of one key and kind of policy, in order. Calls `settle` once, later, with an outcome for
 * each. Never throws.
 */
export type ApplyToKey = (
  key: string,
  operations: readonly Operation[],
  settle: (outcomes: readonly Outcome[]) => void,
) => void

/** Returns the key and the policy of a single-key operation. Throws if there is none. */
export function keyedPolicyOf(operation: Operation | undefined): KeyedPolicy {
  const keyed = operation?.type === 'charge' ? operation.parts[0] : operation
  if (keyed === undefined)
    throw new TypeError('the operation has no key. Pass a charge with a part, or an operation on a key.')
  return keyed
}

/** Each key is a shard of its own. */
const ofItself = (key: string) => key

/** An operation of one key, and what to call with its outcome. */
interface PendingOperation {
  readonly operation: Operation
  readonly settle: (outcome: Outcome) => void
}

/**
 * Returns a function that runs operations, for a store in which every key is a shard. Consecutive operations
 * on one key and policy run together. Different keys run at the same time, but those of one charge in order.
 * `name` is that of the store, `storageKey` returns the name under which the server keeps a key, and `now` the
 * time of a charge that has no keys.
 */
export function runByKey(
  name: string,
  applyToKey: ApplyToKey,
  storageKey: (key: string) => string,
  now: () => number = Date.now,
): Run {
  function applyInOrder(key: string, pending: readonly PendingOperation[]): void {
    const together = firstOfOnePolicy(pending, ({ operation }) => operation)
    const operations = together.map(({ operation }) => operation)
    applyToKey(key, operations, (outcomes) => {
      let i = 0
      for (const { settle } of together) settle(outcomes[i++] as Outcome)
      if (together !== pending) applyInOrder(key, pending.slice(together.length))
    })
  }

  const keyOf = (operation: Operation) => storageKey(keyedPolicyOf(operation).key)

  /** Calls `use` with an operation's storage key. If a user's `storageKey` throws, the operation fails alone. */
  function withKey({ operation, settle }: PendingOperation, use: (key: string) => void): void {
    let key: string
    try {
      key = keyOf(operation)
    } catch (cause) {
      settle(asStoreError(name, cause))
      return
    }
    use(key)
  }

  const applyAlone: ApplyInShard = (operation, settle) => {
    const pending = { operation, settle }
    withKey(pending, (key) => applyInOrder(key, [pending]))
  }
  const decideJointly = jointCharges(ofItself, applyAlone, now)

  return function runEachKey(operations, settle) {
    const [first] = operations
    return new Promise((resolve) => {
      if (operations.length === 1 && first !== undefined && onlyPartOf(first) !== undefined) {
        applyToKey(keyOf(first), operations, resolve)
        return
      }
      const outcomes = new Array<Outcome>(operations.length)
      let missing = operations.length
      if (missing === 0) resolve(outcomes)
      const byKey = new Map<string, PendingOperation[]>()
      const applyInBatch: ApplyInShard = (operation, settleOne) => {
        const one = { operation, settle: settleOne }
        withKey(one, (key) => {
          const pending = byKey.get(key)
          if (pending === undefined) byKey.set(key, [one])
          else pending.push(one)
        })
      }
      let next = 0
      for (const operation of operations) {
        const index = next++
        const settleOne = (outcome: Outcome) => {
          outcomes[index] = outcome
          settle?.(index, outcome)
          if (--missing === 0) resolve(outcomes)
        }
        if (spansShards(operation, ofItself)) decideJointly(operation, settleOne, applyInBatch)
        else applyInBatch(operation, settleOne)
      }
      for (const [key, pending] of byKey) applyInOrder(key, pending)
    })
  }
}

/** Returns the items before the first whose operation has another policy: the same list if there is none. */
export function firstOfOnePolicy<T>(
  items: readonly T[],
  operationOf: (item: T) => Operation | undefined,
): readonly T[] {
  const [first] = items
  if (first === undefined || items.length === 1) return items
  const { policy } = keyedPolicyOf(operationOf(first))
  const end = items.findIndex((item) => !isSamePolicy(keyedPolicyOf(operationOf(item)).policy, policy))
  return end < 0 ? items : items.slice(0, end)
}

/**
 * Creates the function that applies operations to a key from one that returns a promise. If the promise
 * rejects, all of its operations have failed.
 */
export function applyByPromise(
  store: string,
  apply: (key: string, operations: readonly Operation[]) => Promise<readonly (Outcome | Error)[]>,
): ApplyToKey {
  return (key, operations, settle) => {
    apply(key, operations).then(
      (results) => settle(outcomesOf(store, results)),
      (cause) => settle(failedOutcomes(store, operations, cause)),
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
export function failedOutcomes(store: string, operations: readonly Operation[], cause: unknown): Outcome[] {
  const error = asStoreError(store, cause)
  return operations.map(() => error)
}
