import { givesUnitsBack, type KeyedPolicy, keysOf, type Outcome } from '../stores/operation.js'
import { type Call, intoPipe, type Layer, pipeOf } from './call.js'
import type { Pipe } from './pipe.js'

/** Creates a pipe that reports the keys of an operation once it has given units back. */
export function reportUnitsBack(pipe: Pipe, onUnitsBack: (keys: readonly KeyedPolicy[]) => void): Pipe {
  function report({ operation }: Call, outcome: Outcome): void {
    if (givesUnitsBack(operation) && !(outcome instanceof Error)) onUnitsBack(keysOf(operation))
  }

  const layer: Layer = {
    before: () => undefined,
    after(call, outcome) {
      report(call, outcome)
      return outcome
    },
    late: report,
  }
  return pipeOf([layer], intoPipe(pipe))
}
