import type { SettingsDocument } from '../../limiter/settings-document.js'
import type { SharedSettings } from '../../settings/shared-settings.js'
import type { DuePhase, Trial } from './trial.js'
import { changeDue } from './trial-settings.js'

/** The settings were changed, somebody else has changed the same part, or the limiter cannot have the limit. */
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

/** Thrown by an edit if the part that the trial would change has been changed by somebody else. */
class Overridden extends Error {}

/**
 * Makes the change of the settings that is due. Its `id` is that of the step, so it is made once, whichever
 * processes try, and however late. Rejects with a `StoreError`, and with a `TypeError` if the settings
 * cannot be changed back.
 */
export async function makeChange(settings: SharedSettings, trial: Trial): Promise<Made> {
  const { limiter, limit, limitName, id, origin, phase } = trial
  const reason = `tune: ${limit} for ${limitName} ${WHAT[phase as DuePhase]} (trial ${id})`
  try {
    await settings.change(limiter, edit, { by: origin.by, reason, id: `${id}-${phase}` })
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
