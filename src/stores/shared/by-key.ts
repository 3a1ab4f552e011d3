import type { KeyedPolicy, Operation, Outcome } from '../operation.js'
import type { Run } from './run.js'

/** Applies operations of one key, in order. Never rejects. Returns an outcome for each. */
export type ApplyToKey = (key: string, operations: readonly Operation[]) => Promise<readonly Outcome[]>

/** The operations of one key in a batch, and their indexes. */
interface KeyGroup {
  readonly operations: Operation[]
  readonly indexes: number[]
}

/** Returns the key of an operation that has only one, and its policy. */
export function keyedPolicyOf(operation: Operation | undefined): KeyedPolicy {
  return (operation?.type === 'charge' ? operation.parts[0] : operation) as KeyedPolicy
}

/**
 * Returns a function that runs operations of one key each. Those of one key run together, beside those of
 * other keys. `storageKey` returns the key under which the server keeps a key.
 */
export function runByKey(applyToKey: ApplyToKey, storageKey: (key: string) => string = (key) => key): Run {
  async function runKey(
    key: string,
    { operations, indexes }: KeyGroup,
    settle: Parameters<Run>[1],
  ): Promise<void> {
    const outcomes = await applyToKey(key, operations)
    for (let i = 0; i < indexes.length; i++) settle(indexes[i] as number, outcomes[i] as Outcome)
  }

  return async (operations, settle) => {
    const byKey = new Map<string, KeyGroup>()
    for (let i = 0; i < operations.length; i++) {
      const operation = operations[i] as Operation
      const key = storageKey(keyedPolicyOf(operation).key)
      const group = byKey.get(key)
      if (group === undefined) byKey.set(key, { operations: [operation], indexes: [i] })
      else {
        group.operations.push(operation)
        group.indexes.push(i)
      }
    }
    const running: Promise<void>[] = []
    for (const [key, group] of byKey) running.push(runKey(key, group, settle))
    await Promise.all(running)
  }
}
