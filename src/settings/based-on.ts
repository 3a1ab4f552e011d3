import type { ChangedPart, GivenDocument, PartValue } from '../limiter/settings-document.js'
import { inSlices } from '../util/slices.js'
import { show, wrongOption } from '../util/validate.js'
import { type ConflictingPart, namesOf, SettingsConflictError } from './conflict.js'
import { MAX_CHANGES, type StoredChange } from './history.js'
import { differences, documentOf, partsOf, setPart } from './parts.js'
import { documentSteps } from './read-document.js'
import { checkIntact, type Revision } from './revision.js'
import { bareChange, jsonSteps, type StoredSettings, shownChange } from './stored-settings.js'

/** A change whose parts are known. */
type KnownChange = StoredChange & { readonly parts: readonly ChangedPart[] }

const AGAIN = 'Read the document again, and repeat the change.'

/** Returns a valid `basedOn`: the `id` of a change, or `null` if there was none. */
export function readBase(base: unknown): string | null {
  if (base === null || (typeof base === 'string' && base !== '')) return base
  const fix = 'Pass the id of the latest change when the document was read, or null if there was none.'
  throw wrongOption('settings', 'basedOn', 'the id of a change, or null', base, fix)
}

/**
 * Returns a revision that is based on the document as it was after the change `base`. It rejects with a
 * `SettingsConflictError` if it changes parts that others have changed since.
 */
export function basedOn(base: string | null, revision: Revision): Revision {
  return {
    ...revision,
    revise(latest, shared, within) {
      checkIntact(latest)
      changesSince(latest.settings, base)
      return revision.revise(latest, shared, within)
    },
    checkParts(latest, parts) {
      const since = changesSince(latest, base)
      const conflicts = parts.flatMap((part) => conflictOf(part, since))
      if (conflicts.length === 0) return
      const problem = `others have changed ${namesOf(conflicts)} since the version that this change is based on`
      throw new SettingsConflictError(`${problem}. ${AGAIN}`, since.map(shownChange), conflicts)
    },
  }
}

/** Returns the conflict of a part with changes since, in an array; an empty one if none changed the part. */
function conflictOf(
  { path, before: theirs, after: yours }: ChangedPart,
  since: readonly KnownChange[],
): readonly ConflictingPart[] {
  const others = since.filter(({ parts }) => parts.some((part) => part.path === path))
  const [last] = others
  if (last === undefined) return []
  const before = others.at(-1)?.parts.find((part) => part.path === path)?.before
  return [{ path, before, theirs, yours, change: bareChange(last) }]
}

/**
 * Returns the revision of a whole document that was made from the document after the change `base`. What it
 * changes in that document, it changes in the latest one.
 */
export function merging(document: GivenDocument, base: string | null): Revision {
  return basedOn(base, {
    async revise({ settings }) {
      const nowMs = Date.now()
      const value = await inSlices(jsonSteps<unknown>(document))
      const given = await inSlices(documentSteps(value, nowMs, settings.document))
      const merged = partsOf(settings.document, nowMs)
      const changed = await inSlices(differences(partsAt(settings, base, nowMs), partsOf(given, nowMs)))
      for (const { path, after } of changed) setPart(merged, path, after, nowMs)
      return documentOf(merged)
    },
  })
}

/** Returns the parts of the document as it was after the change `base`. */
function partsAt(settings: StoredSettings, base: string | null, nowMs: number): Map<string, PartValue> {
  const parts = partsOf(settings.document, nowMs)
  for (const change of changesSince(settings, base))
    for (const { path, before } of change.parts) setPart(parts, path, before, nowMs)
  return parts
}

/**
 * Returns the changes since the change `base`, the newest first. Throws a `SettingsConflictError` if it is
 * not known what they changed.
 */
function changesSince({ changes }: StoredSettings, base: string | null): readonly KnownChange[] {
  const index = base === null ? changes.length : changes.findIndex(({ id }) => id === base)
  const isTooOld = base === null && changes.length >= MAX_CHANGES
  if (index < 0 || isTooOld) {
    const version = base === null ? 'the document before its first change' : `the change ${show(base)}`
    const problem = `${version}, which this change is based on, is not among the last ${MAX_CHANGES}`
    throw new SettingsConflictError(`${problem}. ${AGAIN}`, changes.map(shownChange))
  }
  const since = changes.slice(0, index)
  const unknown = since.find(({ parts }) => parts === undefined)
  if (unknown === undefined) return since as readonly KnownChange[]
  const who = `${unknown.by} (${JSON.stringify(unknown.reason)})`
  const problem = `the history does not say what ${who} has changed since the version that this change is based on`
  throw new SettingsConflictError(`${problem}. ${AGAIN}`, since.map(shownChange))
}
