import { keysOf, type Operation, type Outcome } from '../operation.js'
import type { Store } from '../store.js'

/** Applies operations in order. Calls `answer` with the outcome of each, once, as soon as it is known. */
export type Run = (
  operations: readonly Operation[],
  answer: (index: number, outcome: Outcome) => void,
) => Promise<void>

/** Returns the `apply` of a store that runs operations. */
export function applyBy(run: Run): Store['apply'] {
  return async (operations, settle) => {
    const outcomes = new Array<Outcome>(operations.length)
    await run(operations, (index, outcome) => {
      outcomes[index] = outcome
      settle?.(index, outcome)
    })
    return outcomes
  }
}

/**
 * Returns a function that runs operations in parts of at most `maxKeys` keys, one part after the other: a caller
 * may give a store more operations than its server takes at once.
 */
export function inParts(run: Run, maxKeys: number): Run {
  return async (operations, answer) => {
    for (let start = 0; start < operations.length; ) {
      const end = endOfPart(operations, start, maxKeys)
      const offset = start
      await run(operations.slice(start, end), (index, outcome) => answer(offset + index, outcome))
      start = end
    }
  }
}

/** Returns where a part ends, which has at least one operation. */
function endOfPart(operations: readonly Operation[], start: number, maxKeys: number): number {
  let keys = 0
  let end = start
  while (end < operations.length) {
    keys += keysOf(operations[end] as Operation).length
    if (keys > maxKeys && end > start) return end
    end++
  }
  return end
}
