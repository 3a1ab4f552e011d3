import type { Operation, Outcome } from '../operation.js'
import { asStoreError } from '../store-error.js'

/** Applies operations of one key that go together. */
export type RunSegment = (
  key: string,
  operations: readonly Operation[],
) => Promise<readonly (Outcome | Error)[]>

/**
 * Applies operations in turn, those that follow one another and are applied the same way together. Never
 * rejects: all operations of a segment that fails have its error.
 */
export async function applySegments(
  key: string,
  operations: readonly Operation[],
  runOf: (operation: Operation) => RunSegment,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (let start = 0, end = 0; start < operations.length; start = end) {
    const run = runOf(operations[start] as Operation)
    for (end = start + 1; end < operations.length; end++)
      if (runOf(operations[end] as Operation) !== run) break
    const segment = end - start === operations.length ? operations : operations.slice(start, end)
    try {
      for (const outcome of await run(key, segment)) outcomes.push(asOutcome(outcome))
    } catch (error) {
      for (const _ of segment) outcomes.push(asOutcome(error as Error))
    }
  }
  return outcomes
}

function asOutcome(outcome: Outcome | Error): Outcome {
  return outcome instanceof Error ? asStoreError('memcached', outcome) : outcome
}
