import type { Operation, Outcome } from '../operation.js'
import { asStoreError } from '../store-error.js'

/** Applies operations of one key that go together. */
export type RunSegment = (
  key: string,
  operations: readonly Operation[],
) => Promise<readonly (Outcome | Error)[]>

/** Operations that follow one another, and how they are applied. */
interface Segment {
  readonly run: RunSegment
  readonly operations: readonly Operation[]
}

/** Splits operations where the way to apply them changes. */
export function segmentsOf(
  operations: readonly Operation[],
  runOf: (operation: Operation) => RunSegment,
): readonly Segment[] {
  const segments: { run: RunSegment; operations: Operation[] }[] = []
  for (const operation of operations) {
    const run = runOf(operation)
    const last = segments.at(-1)
    if (last?.run === run) last.operations.push(operation)
    else segments.push({ run, operations: [operation] })
  }
  return segments
}

/** Applies segments in turn. Never rejects: all operations of a segment that fails have its error. */
export async function applySegments(key: string, segments: readonly Segment[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const { run, operations } of segments) {
    try {
      for (const outcome of await run(key, operations)) outcomes.push(asOutcome(outcome))
    } catch (error) {
      outcomes.push(...operations.map(() => asOutcome(error as Error)))
    }
  }
  return outcomes
}

function asOutcome(outcome: Outcome | Error): Outcome {
  return outcome instanceof Error ? asStoreError('memcached', outcome) : outcome
}
