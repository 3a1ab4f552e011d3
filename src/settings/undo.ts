import type { ChangedPart } from '../limiter/settings-document.js'
import { isSameJson } from '../util/same-json.js'
import { show, wrongUse } from '../util/validate.js'
import { type ConflictingPart, namesOf, SettingsConflictError } from './conflict.js'
import { MAX_CHANGES, type StoredChange } from './history.js'
import { documentOf, type Parts, partsOf, setPart, unlessEnded } from './parts.js'
import { checkIntact, type Revision } from './revision.js'
import { bareChange, type StoredSettings, shownChange } from './stored-settings.js'

/**
 * Returns the revision that restores what a change replaced. It rejects with a `SettingsConflictError` if
 * one of those parts has changed since, and with a `TypeError` if there is nothing to restore.
 */
export function undoing(id: string): Revision {
  return {
    undoes: id,
    revise(latest) {
      checkIntact(latest)
      const { settings } = latest
      const nowMs = Date.now()
      const { change, later } = findChange(settings, id)
      const parts = partsOf(settings.document, nowMs)
      const changed = knownParts(change)
      checkUnchanged(changed, parts, later, nowMs)
      const isUndone = ({ path, before }: ChangedPart) =>
        isSameJson(parts.get(path), unlessEnded(path, before, nowMs))
      if (changed.every(isUndone)) throw nothingLeft(change)
      for (const { path, before } of changed) setPart(parts, path, before, nowMs)
      return documentOf(parts)
    },
  }
}

function findChange({ changes }: StoredSettings, id: unknown) {
  const index = changes.findIndex((change) => change.id === id)
  const change = changes[index]
  if (change !== undefined) return { change, later: changes.slice(0, index) }
  const problem = `there is no change ${show(id)} among the last ${MAX_CHANGES}`
  throw wrongUse('settings', problem, 'Pass an id that settings.changes returns.')
}

/** Returns what a change changed. Throws a `TypeError` if that was not kept. */
function knownParts({ by, reason, parts, partCount }: StoredChange): readonly ChangedPart[] {
  if (parts !== undefined) return parts
  const why =
    partCount === undefined
      ? 'an earlier version of headgate made it, or the document before it could not be read'
      : `it changed ${partCount} parts, too many to keep`
  const problem = `the change of ${by} (${JSON.stringify(reason)}) cannot be undone, because ${why}`
  throw wrongUse('settings', problem, 'Change the document instead.')
}

/** Throws a `SettingsConflictError` if parts are no longer what a change made them. */
function checkUnchanged(
  changed: readonly ChangedPart[],
  parts: Parts,
  later: readonly StoredChange[],
  nowMs: number,
): void {
  const laterByPath = new Map(
    later.toReversed().flatMap((change) => (change.parts ?? []).map(({ path }) => [path, change] as const)),
  )
  const conflicts = changed.flatMap(({ path, before: yours, after: before }): ConflictingPart[] => {
    const change = laterByPath.get(path)
    const theirs = parts.get(path)
    if (change === undefined && isSameJson(theirs, unlessEnded(path, before, nowMs))) return []
    return [{ path, before, theirs, yours, change: change && bareChange(change) }]
  })
  if (conflicts.length === 0) return
  const problem = `the change cannot be undone, because of later changes: ${namesOf(conflicts)}`
  const fix = 'Undo the later change first, or change the document.'
  throw new SettingsConflictError(`${problem}. ${fix}`, later.map(shownChange), conflicts)
}

function nothingLeft({ by, reason, parts = [] }: StoredChange): TypeError {
  const why = parts.length === 0 ? 'it changed nothing' : 'its overrides have ended'
  const problem = `nothing of the change of ${by} (${JSON.stringify(reason)}) is left to undo, because ${why}`
  return wrongUse('settings', problem, 'Leave it as it is.')
}
