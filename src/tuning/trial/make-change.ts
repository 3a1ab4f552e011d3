import type { SettingsDocument } from '../../limiter/settings-document.js'
import type { SharedSettings } from '../../settings/shared-settings.js'
import { changeIdOf } from './change-id.js'
import { OWN_AUTHOR } from './own-author.js'
import { shareOf } from './standing.js'
import type { DuePhase, Trial, TrialFigures, TrialOutcome } from './trial.js'
import { changeDue } from './trial-settings.js'

/** The settings were changed, another operator had changed the same part, or the limiter rejects the limit. */
export interface Made {
  readonly made: 'made' | 'overridden' | 'refused'
  /** Why the limiter cannot have it. */
  readonly problem?: string
}

const WHAT: Readonly<Record<DuePhase, string>> = {
  starting: 'runs as a candidate',
  promoting: 'is promoted',
  reverting: 'is reverted',
  stopping: 'is no longer tried',
}

/** Returns who makes the change that is due, and why: an operator, or the trial itself. */
function authorOf({
  limit,
  limitName,
  id,
  origin,
  phase,
  outcome,
  standing,
  guarded,
  maxHarmedShare,
}: Trial) {
  const what = `${limit} for ${limitName} ${WHAT[phase as DuePhase]}`
  const isAsked = outcome === undefined || outcome === 'stopped'
  if (isAsked) return { by: origin.by, reason: `tune: ${what} (trial ${id})` }
  const rose = standing && guarded && `rose from ${percentOf(standing)} to ${percentOf(guarded)}`
  const why =
    outcome === 'reverted' && rose !== undefined
      ? `the share of denied clients in good standing ${rose}, by more than ${percentText(maxHarmedShare)}`
      : WHY[outcome]
  return { by: OWN_AUTHOR, reason: `tune: ${what}, because ${why} (trial ${id})` }
}

const WHY: Readonly<Record<TrialOutcome, string>> = {
  kept: 'it stays',
  reverted: 'it denies too many clients in good standing',
  stopped: 'it was stopped',
  overridden: 'its settings were changed',
  expired: 'figures or an approval did not come in time',
  refused: 'the settings do not accept it',
}

function percentOf(figures: TrialFigures): string {
  return percentText(shareOf(figures))
}

/** Returns a share as `0%`, `0.3%` or `12%`. */
function percentText(share: number): string {
  return `${Number((100 * share).toPrecision(2))}%`
}

/** Thrown by an edit if another operator has changed the part that the trial would change. */
class Overridden extends Error {}

/**
 * Makes the change of the settings that is due. Its `id` is that of the step, so it is made once, whichever
 * processes try, and however late. Rejects with a `StoreError`, and with a `TypeError` if the settings
 * cannot be changed back.
 */
export async function makeChange(settings: SharedSettings, trial: Trial): Promise<Made> {
  const { limiter, phase } = trial
  try {
    await settings.change(limiter, edit, { ...authorOf(trial), id: changeIdOf(trial) })
    return { made: 'made' }
  } catch (error) {
    if (error instanceof Overridden) return { made: 'overridden' }
    if (error instanceof TypeError && (phase === 'starting' || phase === 'promoting'))
      return { made: 'refused', problem: error.message }
    throw error
  }

  function edit(document: SettingsDocument) {
    const changed = changeDue(trial, document)
    if (changed === undefined) throw new Overridden()
    return changed
  }
}
