import type { ChangedPart, SettingsChange } from '../limiter/settings-document.js'
import { isSameJson } from '../util/same-json.js'
import { show, wrongUse } from '../util/validate.js'
import { type ConflictingPart, namesOf, SettingsConflictError } from './conflict.js'
import { MAX_CHANGES, type StoredChange } from './history.js'
import { documentOf, type Parts, partsOf, setPart, unlessEnded } from './parts.js'
import { checkIntact, type Revision } from './revision.js'
import { bareChange, type StoredSettings, shownChange } from './stored-settings.js'

/**
 * Returns the revision that restores what a change replaced. It rejects with a `SettingsConflictError` if
 * one of those parts has changed since, and with a `NothingLeftError` if all of them are as before it.
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
      if (changed.every((part) => isUndone(part, parts, nowMs))) throw nothingLeft(change, later)
      checkUnchanged(changed, parts, later, nowMs)
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

const isUndone = ({ path, before }: ChangedPart, parts: Parts, nowMs: number) =>
  isSameJson(parts.get(path), unlessEnded(path, before, nowMs))

/** Throws a `SettingsConflictError` if parts are neither what a change made them, nor as they were before it. */
function checkUnchanged(
  changed: readonly ChangedPart[],
  parts: Parts,
  later: readonly StoredChange[],
  nowMs: number,
): void {
  const laterByPath = new Map(
    later.toReversed().flatMap((change) => (change.parts ?? []).map(({ path }) => [path, change] as const)),
  )
  const left = changed.filter((part) => !isUndone(part, parts, nowMs))
  const conflicts = left.flatMap(({ path, before: yours, after: before }): ConflictingPart[] => {
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

/** Nothing is left to undo: the parts are as they were before. */
export class NothingLeftError extends TypeError {}

function nothingLeft(
  { by, reason, parts = [] }: StoredChange,
  later: readonly StoredChange[],
): NothingLeftError {
  const what = `nothing of the change of ${by} (${JSON.stringify(reason)}) is left to undo`
  const undone = whyUndone(later, new Set(parts.map(({ path }) => path))) ?? 'its overrides have ended'
  const why = parts.length === 0 ? 'it changed nothing' : undone
  return new NothingLeftError(`settings: ${what}, because ${why}. Leave it as it is.`)
}

/** Returns which of the later changes, the newest first, made parts what they were before; `undefined` if none did. */
export function whyUndone(later: readonly SettingsChange[], paths: ReadonlySet<string>): string | undefined {
  const change = later.find(({ parts }) => parts?.some(({ path }) => paths.has(path)))
  if (change === undefined) return undefined
  return `${change.by} (${JSON.stringify(change.reason)}) has undone it already`
}
