import type { PartValue, SettingsChange, SettingsDocument } from '../limiter/settings-document.js'
import { isSameJson } from '../util/same-json.js'
import { partsOf } from './parts.js'

/** A document with its last changes, the newest first. */
export interface RecordedSettings {
  readonly document: SettingsDocument
  readonly changes: readonly SettingsChange[]
}

/** A part of a document that is in force. */
export interface PartInForce {
  /** Such as `mode`, `limits.api`, `candidate` or `overrides[identity="user:acme"]`. */
  readonly path: string
  readonly value: PartValue
  /** The change that gave it this value. `undefined` if the history does not reach back so far. */
  readonly change: SettingsChange | undefined
}

/**
 * Returns the parts of a document that are in force at a time, with who set each, when and why. Overrides
 * that have ended are not in force.
 */
export function partsInForce({ document, changes }: RecordedSettings, nowMs: number): PartInForce[] {
  const lastChanges = lastChangeByPath(changes)
  return Array.from(partsOf(document, nowMs), ([path, value]) => {
    const last = lastChanges.get(path)
    const isSet = last !== undefined && isSameJson(last.after, value)
    return { path, value, change: isSet ? last.change : undefined }
  })
}

/** Returns the last change of each part. Ends at the first change of which it is not known what it changed. */
function lastChangeByPath(changes: readonly SettingsChange[]) {
  const byPath = new Map<string, { readonly change: SettingsChange; readonly after: PartValue | undefined }>()
  for (const change of changes) {
    if (change.parts === undefined) break
    for (const { path, after } of change.parts) if (!byPath.has(path)) byPath.set(path, { change, after })
  }
  return byPath
}
