import { durationText } from '../../util/durations.js'
import type { Trial, TrialEvent, TrialFigures, TrialOrigin, TrialPhase } from './trial.js'

/** Returns a trial in its next phase, with the event of that step. `origin` is the operator who took it, if one did. */
export function step(trial: Trial, phase: TrialPhase, nowMs: number, origin?: TrialOrigin): Trial {
  const { id, limiter, events } = trial
  const event: TrialEvent = {
    id: `${id}/${events.length + 1}`,
    atMs: nowMs,
    kind: 'tune',
    text: textOf(trial, phase),
    ...{ limiter, ...origin },
    details: { trial: id, phase },
  }
  return { ...trial, phase, phaseSinceMs: nowMs, events: [...events, event] }
}

/** Says in one sentence what a step is, from what the trial is when it takes it. */
function textOf(trial: Trial, phase: TrialPhase): string {
  const { limit, limitName, watchMs, guardMs, watched, outcome } = trial
  const what = `the limit of ${limit} for ${limitName}`
  const texts: Readonly<Record<TrialPhase, string>> = {
    starting: `a trial of ${what} begins`,
    watching: `${what} runs as a candidate for ${durationText(watchMs)}`,
    ready: `${what} would newly deny ${sharedText(watched)}${watched?.from === 'demands' ? ' (estimated)' : ''}, and waits for approval`,
    promoting: `${what} was approved`,
    guarding: `${what} is in force, and is reverted if it denies too many clients within ${durationText(guardMs)}`,
    reverting: `${what} is reverted, because ${becauseOf(trial)}`,
    stopping: `the trial of ${what} ends, because ${becauseOf(trial)}`,
    ended:
      outcome === 'kept' ? `${what} stays in force` : `the trial of ${what} has ended, ${endText(trial)}`,
  }
  return texts[phase]
}

function becauseOf({ outcome, guarded, problem }: Trial): string {
  if (outcome === 'reverted') return `it denies ${sharedText(guarded)} in good standing`
  if (outcome === 'overridden') return 'its settings were changed'
  if (outcome === 'refused') return `the settings do not accept it (${problem})`
  if (outcome === 'stopped') return 'it was stopped'
  return 'figures or an approval did not come in time'
}

function endText(trial: Trial): string {
  return trial.outcome === 'overridden'
    ? 'because its settings were changed; that change stays'
    : `because ${becauseOf(trial)}`
}

function sharedText(figures: TrialFigures | undefined): string {
  const { denied = 0, clients = 0 } = figures ?? {}
  return `${denied.toLocaleString('en-US')} of ${clients.toLocaleString('en-US')} clients`
}
