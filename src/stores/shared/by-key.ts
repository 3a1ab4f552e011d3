import { groupBy } from '../../util/group-by.js'
import { type KeyedPolicy, keysOf, type Operation, type Outcome } from '../operation.js'
import type { Run } from './run.js'

/** Applies operations of one key, in order. Never rejects. Returns an outcome for each. */
export type ApplyToKey = (key: string, operations: readonly Operation[]) => Promise<readonly Outcome[]>

/** Returns the key of an operation that has only one, and its policy. */
export function keyedPolicyOf(operation: Operation | undefined): KeyedPolicy {
  return keysOf(operation as Operation)[0] as KeyedPolicy
}

/**
 * Returns a function that runs operations of one key each. Those of one key run together, beside those of
 * other keys. `storageKey` returns the key under which the server keeps a key.
 */
export function runByKey(applyToKey: ApplyToKey, storageKey: (key: string) => string = (key) => key): Run {
  return async (operations, answer) => {
    const byKey = groupBy(operations.entries(), ([, operation]) => storageKey(keyedPolicyOf(operation).key))
    await Promise.all(
      Array.from(byKey, async ([key, entries]) => {
        const outcomes = await applyToKey(
          key,
          entries.map(([, operation]) => operation),
        )
        for (const [i, [index]] of entries.entries()) answer(index, outcomes[i] as Outcome)
      }),
    )
  }
}
