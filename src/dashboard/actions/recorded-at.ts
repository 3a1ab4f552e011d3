import type { SettingsDocument } from '../../limiter/settings-document.js'
import { MAX_CHANGES } from '../../settings/history.js'
import type { RecordedSettings } from '../../settings/in-force.js'
import { documentOf, partsOf, setPart } from '../../settings/parts.js'

/** Overrides that have ended are kept: they were in force then. */
const ALL = Number.NEGATIVE_INFINITY

/**
 * Returns settings as they were after the change `version`, or before the first change for `null`. Throws a
 * `TypeError` if the history does not reach back so far.
 */
export function recordedAt(recorded: RecordedSettings, version: string | null): RecordedSettings {
  const { document, changes } = recorded
  const index = version === null ? changes.length : changes.findIndex(({ id }) => id === version)
  if (index === 0) return recorded
  const isTooOld = version === null && changes.length >= MAX_CHANGES
  if (index < 0 || isTooOld) throw new TypeError(UNKNOWN)
  const parts = partsOf(document, ALL)
  for (const change of changes.slice(0, index)) {
    if (change.parts === undefined) throw new TypeError(UNKNOWN)
    for (const { path, before } of change.parts) setPart(parts, path, before, ALL)
  }
  return { document: documentOf(parts) as SettingsDocument, changes: changes.slice(index) }
}

const UNKNOWN = 'dashboard: the history does not reach back to what was listed. Read the list again.'
