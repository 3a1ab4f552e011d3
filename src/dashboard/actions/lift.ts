import type { PartValue, SettingsChange, SettingsDocument } from '../../limiter/settings-document.js'
import { partsInForce, type RecordedSettings } from '../../settings/in-force.js'
import { documentOf, partsOf, setPart, unlessEnded } from '../../settings/parts.js'
import { NothingLeftError, whyUndone } from '../../settings/undo.js'
import { isChangeOf } from '../../tuning/trial/change-id.js'
import { isSameJson } from '../../util/same-json.js'
import type { Watched } from '../figures/limiter-watch.js'
import { recordedAt } from './recorded-at.js'
import { type ChangeAuthor, requireSettings } from './settings-of.js'

/**
 * What to undo: parts that were in force in the version `base`, or all that a change did. With `over`, that replaces
 * what others have changed since, up to that version.
 */
export type Lifted = (
  | { readonly paths: readonly string[]; readonly base: string | null }
  | { readonly change: string }
) & { readonly over?: string | null }

/**
 * Undoes what was in force. Each part gets the value again that it had before the change that set it. Where the
 * history does not reach back so far, the part is removed. Rejects with a `SettingsConflictError` if another
 * operator has changed the same parts since, with a `NothingLeftError` if they are as before already, and otherwise
 * as `settings.change` does.
 */
export async function lift(watched: Watched, lifted: Lifted, author: ChangeAuthor): Promise<void> {
  const { name, settings } = requireSettings(watched)
  const recorded = await settings.readWithChanges(name)
  const { over } = lifted
  if ('change' in lifted && over === undefined && !isOfTrial(recorded, lifted.change)) {
    await settings.undo(name, lifted.change, author)
    return
  }
  const version = 'change' in lifted ? lifted.change : lifted.base
  const before =
    'change' in lifted ? beforeChange(recorded, version ?? '') : beforeParts(recorded, lifted.paths, version)
  const edit = (document: SettingsDocument) => {
    if (isAsBefore(document, before)) throw nothingLeft(recorded, version, before)
    return withParts(document, before)
  }
  await settings.change(name, edit, { ...author, basedOn: over === undefined ? version : over })
}

/** Returns the `id`s of the changes that would be undone. */
export async function changesLifted(watched: Watched, lifted: Lifted): Promise<readonly string[]> {
  if ('change' in lifted) return [lifted.change]
  const { name, settings } = requireSettings(watched)
  const inForce = partsInForce(recordedAt(await settings.readWithChanges(name), lifted.base), Date.now())
  return inForce.flatMap(({ path, change }) => (change && lifted.paths.includes(path) ? [change.id] : []))
}

type Values = ReadonlyMap<string, PartValue | undefined>

/**
 * Returns the values that the parts of a change had before it, without the candidate of a trial, which nothing would
 * watch. Throws a `TypeError` if they were not kept.
 */
function beforeChange(recorded: RecordedSettings, id: string): Values {
  const { parts } = recorded.changes.find((each) => each.id === id) ?? {}
  if (parts === undefined)
    throw new TypeError(`dashboard: the parts of the change ${id} are no longer known.`)
  const isTrials = isOfTrial(recorded, id)
  const kept = parts.filter(({ path, before }) => !(isTrials && path === 'candidate' && before !== undefined))
  return new Map(kept.map(({ path, before }) => [path, before]))
}

/** Returns whether a trial made a change, or what it undid. */
function isOfTrial({ changes }: RecordedSettings, id: string): boolean {
  const { undoes = '' } = changes.find((each) => each.id === id) ?? {}
  return isChangeOf(id) || isChangeOf(undoes)
}

/**
 * Returns the values that parts in force in a version had before the changes that set them. Throws a `TypeError` for
 * a part that was not in force then, as far as that is known.
 */
function beforeParts(recorded: RecordedSettings, paths: readonly string[], version: string | null): Values {
  const inForce = new Map(
    partsInForce(recordedAt(recorded, version), Number.NEGATIVE_INFINITY).map((part) => [part.path, part]),
  )
  return new Map(
    paths.map((path) => {
      const found = inForce.get(path)
      if (found === undefined)
        throw new TypeError(`dashboard: ${path} was not in force when it was listed. Read the list again.`)
      return [path, found.change?.parts?.find((each) => each.path === path)?.before]
    }),
  )
}

/** Returns whether parts of a document have these values already. */
function isAsBefore(document: SettingsDocument, values: Values): boolean {
  const nowMs = Date.now()
  const parts = partsOf(document, nowMs)
  return Array.from(values).every(([path, value]) =>
    isSameJson(parts.get(path), unlessEnded(path, value, nowMs)),
  )
}

function nothingLeft(
  { changes }: RecordedSettings,
  version: string | null,
  values: Values,
): NothingLeftError {
  const later = laterThan(changes, version)
  const why = values.size === 0 ? TRIAL_OVER : (whyUndone(later, new Set(values.keys())) ?? UNDONE)
  return new NothingLeftError(`dashboard: nothing is left to undo, because ${why}.`)
}

const UNDONE = 'it has ended, or another operator has just undone it'
const TRIAL_OVER = 'a trial that has ended cannot be resumed'

/** Returns the changes after a version, the newest first; all of them if it is not among them. */
function laterThan(changes: readonly SettingsChange[], version: string | null): readonly SettingsChange[] {
  const index = changes.findIndex(({ id }) => id === version)
  return index < 0 ? changes : changes.slice(0, index)
}

/** Returns a document with other values of some parts; `undefined` removes one. */
export function withParts(document: SettingsDocument, values: ReadonlyMap<string, PartValue | undefined>) {
  const nowMs = Date.now()
  const parts = partsOf(document, nowMs)
  for (const [path, value] of values) setPart(parts, path, value, nowMs)
  return documentOf(parts)
}
