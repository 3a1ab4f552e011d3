import { keyCount, type Operation, type Outcome } from '../operation.js'
import type { Store } from '../store.js'

/** Applies operations in order. Calls `settle` with the outcome of each, once, as soon as it is known. */
export type Run = (
  operations: readonly Operation[],
  settle: (index: number, outcome: Outcome) => void,
) => Promise<void>

/**
 * Returns the `apply` of a store that runs operations: at most `maxKeys` keys at a time, one part of a batch
 * after the other, since a caller may give a store more operations than its server takes at once.
 */
export function applyBy(run: Run, maxKeys: number): Store['apply'] {
  return async (operations, settle) => {
    const outcomes = new Array<Outcome>(operations.length)
    for (let start = 0, end = 0; start < operations.length; start = end) {
      end = operations.length === 1 ? 1 : endOfPart(operations, start, maxKeys)
      const offset = start
      const isAll = end - start === operations.length
      await run(isAll ? operations : operations.slice(start, end), (index, outcome) => {
        outcomes[offset + index] = outcome
        settle?.(offset + index, outcome)
      })
    }
    return outcomes
  }
}

/** Returns where a part of a batch ends, which has at least one operation. */
function endOfPart(operations: readonly Operation[], start: number, maxKeys: number): number {
  let keys = keyCount(operations[start] as Operation)
  let end = start + 1
  for (; end < operations.length; end++) {
    keys += keyCount(operations[end] as Operation)
    if (keys > maxKeys) return end
  }
  return end
}
