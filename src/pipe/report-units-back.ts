import { givesUnitsBack, type KeyedPolicy, keysOf, type Outcome } from '../stores/operation.js'
import { type Pipe, sendFor } from './pipe.js'

/** Creates a pipe that reports the keys of an operation once it has given units back. */
export function reportUnitsBack(pipe: Pipe, onUnitsBack: (keys: readonly KeyedPolicy[]) => void): Pipe {
  return {
    send: sendFor((operation, settle, onLate) => {
      if (!givesUnitsBack(operation)) return pipe.send(operation, settle, onLate)
      const report = (outcome: Outcome) => {
        if (!(outcome instanceof Error)) onUnitsBack(keysOf(operation))
      }
      const outcome = pipe.send(
        operation,
        (later) => {
          report(later)
          settle(later)
        },
        (late) => {
          report(late)
          onLate?.(late, operation)
        },
      )
      if (outcome !== undefined) report(outcome)
      return outcome
    }),
  }
}
