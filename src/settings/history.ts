import type { SettingsChange } from '../limiter/settings-document.js'
import { type Fields, isObject } from '../util/values.js'
import { groupedParts, partsOfGroups } from './part-groups.js'

/** How many changes are kept. */
export const MAX_CHANGES = 100
/** How many bytes of JSON the parts of all changes may have: any change of the dashboard has room. */
const MAX_PARTS_BYTES = 300_000

/** A change as a store keeps it. After a lost reply, its `id` shows whether the change was made. */
export interface StoredChange extends SettingsChange {
  /** Whether the change replaced what the store held, whatever that was. */
  readonly replaces?: true
}

/** The changes to a document. */
export interface History {
  /** The last changes, the newest first. */
  readonly changes: readonly StoredChange[]
  /** The `id` of the very first change, which tells histories apart. Absent if it is no longer known. */
  readonly first?: string | undefined
}

/** Returns the history in a stored value that may be damaged. Processes of older versions drop `first`. */
export function historyIn({ changes: given, first }: Fields): History {
  const changes: readonly StoredChange[] = Array.isArray(given) ? given.filter(isChange).map(readable) : []
  if (typeof first === 'string') return { changes, first }
  return { changes, first: changes.length < MAX_CHANGES ? changes.at(-1)?.id : undefined }
}

function isChange(value: unknown): value is StoredChange {
  if (!isObject(value)) return false
  return (
    [value.by, value.reason, value.id].every((text) => typeof text === 'string') &&
    Number.isFinite(value.atMs)
  )
}

/** Returns a change without what it changed, if that cannot be read. */
function readable(change: StoredChange): StoredChange {
  const { parts: groups, ...others } = change
  const { partCount = 0, undoes = '', ...bare } = others
  const parts = groups && partsOfGroups(groups)
  if (!Number.isInteger(partCount) || typeof undoes !== 'string') return bare
  if (groups === undefined) return change
  return parts === undefined ? bare : { ...others, parts }
}

/** Returns changes as a store keeps them. */
export function writtenChanges(changes: readonly StoredChange[]): readonly object[] {
  return changes.map((change) =>
    change.parts === undefined ? change : { ...change, parts: groupedParts(change.parts).groups },
  )
}

/** Returns the history after a change. */
export function historyAfter({ changes, first }: History, change: StoredChange): History {
  return {
    changes: [change, ...changes].slice(0, MAX_CHANGES),
    first: changes.length === 0 ? change.id : first,
  }
}

/** Returns whether changes to the first history led to the second. */
export function isEarlier({ changes: [last] }: History, { changes: [, ...before] }: History): boolean {
  return last !== undefined && before.some(({ id }) => id === last.id)
}

/**
 * Returns whether a history continues an earlier one, or replaces it on purpose. If not, the store has lost
 * the document or reverted to an earlier one, and a process that knew no other document has changed what it
 * found. A document without a history replaces it on purpose: someone wrote it without `settings.change`.
 *
 * Only the last changes are kept. So `foreign` is the last history that did not continue the earlier one:
 * changes to it do not either.
 */
export function continues({ changes, first }: History, earlier: History, foreign?: History): boolean {
  const knownIds = new Set(earlier.changes.map(({ id }) => id))
  for (const { id, replaces } of changes) {
    if (id === earlier.changes[0]?.id) return true
    if (knownIds.has(id)) return false // the two histories diverge after this change
    if (replaces) return true
  }
  if (changes.length < MAX_CHANGES) return changes.length === 0
  if (changes.some(({ id }) => id === foreign?.changes[0]?.id)) return false
  return first === undefined || earlier.first === undefined || first === earlier.first // too far apart
}

/**
 * Returns changes without the parts that exceed a number of bytes. The newest changes keep theirs longest.
 */
export function partsWithin(changes: readonly StoredChange[], maxBytes: number): StoredChange[] {
  let leftBytes = Math.min(maxBytes, MAX_PARTS_BYTES)
  return changes.map((change) => {
    const { parts, ...others } = change
    if (parts === undefined) return change
    const { bytes } = groupedParts(parts)
    if (bytes > MAX_PARTS_BYTES) return others
    leftBytes -= bytes
    return leftBytes >= 0 ? change : others
  })
}
