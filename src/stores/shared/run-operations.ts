import { wrongOption } from '../../util/validate.js'
import { type Charge, keyCount, type Operation, type Outcome } from '../operation.js'
import type { Batching } from '../store.js'

/** Called with the outcome of an operation, once, as soon as it is known. */
export type SettleIndex = (index: number, outcome: Outcome) => void

/**
 * Applies operations in order. Resolves with an outcome for each, and may pass some to `settle` before
 * others are known. On Redis, it is `runBatch`.
 */
export type Run = (operations: readonly Operation[], settle?: SettleIndex) => Promise<readonly Outcome[]>

/**
 * Returns the `apply` of a store. It checks the operations, and runs them in chunks of at most `maxKeys`
 * keys, one after another, because callers may pass more than the server takes at once. `owner` names the
 * store in errors.
 */
export function applyBy(owner: string, run: Run, { maxKeys }: Pick<Batching, 'maxKeys'>): Run {
  async function runInChunks(operations: readonly Operation[], settle?: SettleIndex): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const chunk of chunksOf(operations, maxKeys)) {
      const offset = outcomes.length
      const settleInChunk: SettleIndex = (i, outcome) => settle?.(offset + i, outcome)
      outcomes.push(...(await run(chunk, settleInChunk)))
    }
    return outcomes
  }

  return function apply(operations, settle) {
    const keys = checkOperations(owner, operations)
    const isOneChunk = operations.length === 1 || keys <= maxKeys
    return isOneChunk ? run(operations, settle) : runInChunks(operations, settle)
  }
}

/** Splits operations into chunks of at most `maxKeys` keys, each of at least one operation. */
function chunksOf(operations: readonly Operation[], maxKeys: number): readonly (readonly Operation[])[] {
  const chunks: Operation[][] = []
  let chunk: Operation[] = []
  let keys = 0
  for (const operation of operations) {
    const count = keyCount(operation)
    keys += count
    if (chunk.length === 0 || keys > maxKeys) {
      chunk = []
      chunks.push(chunk)
      keys = count
    }
    chunk.push(operation)
  }
  return chunks
}

/** Operations of a batch that run together, by their indexes in it. */
export interface RunGroup {
  readonly indexes: readonly number[]
  /** Runs these operations. */
  readonly run: Run
}

/**
 * Runs the groups of a batch at the same time. The outcomes of each are passed to `settle` as soon as they
 * are known.
 */
export async function runGroups(
  operations: readonly Operation[],
  groups: readonly RunGroup[],
  settle?: SettleIndex,
): Promise<readonly Outcome[]> {
  const outcomes = new Array<Outcome>(operations.length)
  const runGroup = async ({ indexes, run }: RunGroup) => {
    const settleOne: SettleIndex = (i, outcome) => {
      const index = indexes[i]
      if (index === undefined || outcomes[index] !== undefined) return
      outcomes[index] = outcome
      settle?.(index, outcome)
    }
    const results = await run(itemsAt(operations, indexes), settleOne)
    for (const [i, outcome] of results.entries()) settleOne(i, outcome)
  }
  await Promise.all(groups.map(runGroup))
  return outcomes
}

/** Returns the items of a list at the given indexes. */
export function itemsAt<T>(list: readonly T[], indexes: readonly number[]): T[] {
  const items: T[] = []
  for (const index of indexes) {
    const item = list[index]
    if (item !== undefined) items.push(item)
  }
  return items
}

/**
 * Throws a `TypeError` for an invalid operation, or one that does not fit its policy. Returns how many keys
 * the operations name.
 */
export function checkOperations(owner: string, operations: readonly Operation[]): number {
  let keys = 0
  for (const operation of operations) {
    if (operation.type === 'charge') {
      for (const { cost } of operation.parts)
        if (!Number.isSafeInteger(cost) || cost < 0) throw wrongOption(owner, 'a cost', UNITS, cost)
      keys += operation.parts.length
    } else {
      checkOperation(owner, operation)
      keys++
    }
  }
  return keys
}

function checkOperation(owner: string, operation: Exclude<Operation, Charge>): void {
  const { policy } = operation
  if (operation.type === 'take' || operation.type === 'reward') {
    const { units } = operation
    checkUnits(owner, 'units', units)
    check(units === 0 || !policy.holdsUnits, owner, 'units', '0 for concurrency', units)
  } else if (operation.type === 'refund' || operation.type === 'renew') {
    const { type, cost, takenAtMs } = operation
    const isPossible = type === 'refund' || policy.renew !== undefined
    checkUnits(owner, 'a cost', cost)
    check(Number.isFinite(takenAtMs), owner, 'takenAtMs', 'a time in milliseconds', takenAtMs)
    check(isPossible, owner, 'policy', 'concurrency to be renewed', policy.spec.kind)
  } else if (operation.type === 'block') {
    const { forMs } = operation
    const { longestBanMs = 0 } = policy
    const must = `milliseconds, at most the longest ban of ${longestBanMs}`
    check(policy.isBan === true, owner, 'policy', 'a ban to block', policy.spec.kind)
    check(forMs >= 0 && forMs <= longestBanMs, owner, 'forMs', must, forMs)
  } else check(operation.type === 'forget', owner, 'type', TYPES, operation.type)
}

const UNITS = 'a whole number of at least 0'
const TYPES = "one of 'charge', 'take', 'refund', 'reward', 'block', 'renew', 'forget'"

function checkUnits(owner: string, name: string, units: number): void {
  check(Number.isSafeInteger(units) && units >= 0, owner, name, UNITS, units)
}

function check(isRight: boolean, owner: string, name: string, must: string, value: unknown): void {
  if (!isRight) throw wrongOption(owner, name, must, value)
}
