import { givesUnitsBack, type KeyedPolicy, keysOf } from '../stores/operation.js'
import type { Pipe } from './pipe.js'

/** Creates a pipe that reports the keys of an operation once it has given units back. */
export function reportUnitsBack(pipe: Pipe, onUnitsBack: (keys: readonly KeyedPolicy[]) => void): Pipe {
  return {
    send(operation, settle, onLate) {
      if (!givesUnitsBack(operation)) return pipe.send(operation, settle, onLate)
      const report = (outcome: unknown) => {
        if (!(outcome instanceof Error)) onUnitsBack(keysOf(operation))
      }
      const outcome = pipe.send(
        operation,
        (later) => {
          report(later)
          settle(later)
        },
        (late, sent) => {
          report(late)
          onLate?.(late, sent)
        },
      )
      if (outcome !== undefined) report(outcome)
      return outcome
    },
  }
}
