import type { Choice } from './app.js'
import { brokenBounds } from './bounds.js'
import { type Outcome, type RunOptions, runFault } from './run-fault.js'
import type { Fault, Stage } from './stage.js'

const ATTEMPTS = 3
const DISTURBED_MS = 20

export interface UndisturbedOptions extends RunOptions {
  /** Bounds exceeded by no more than the application was held up count as kept: they cause no second run. */
  readonly forgives?: boolean
}

/**
 * Runs a fault once more where a bound was broken while the application was held up for longer than the
 * bounds leave room for: that says nothing on a machine that is busy with other things. What the
 * application does to itself, it does again.
 */
export async function runUndisturbed(
  stage: Stage,
  fault: Fault,
  choice: Choice,
  { forgives = false, ...options }: UndisturbedOptions = {},
): Promise<Outcome> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await runFault(stage, fault, choice, options)
    const { heldUpMs } = outcome.app
    const broken = brokenBounds(outcome, forgives ? heldUpMs : 0)
    const isDisturbed = heldUpMs > DISTURBED_MS && broken.length > 0
    if (!isDisturbed || attempt === ATTEMPTS || stage.isUsedUp) return outcome
  }
}
