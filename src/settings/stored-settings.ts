import type { ChangeNote, SettingsChange, SettingsDocument } from '../limiter/settings-document.js'
import { byteLengthOf } from '../platform.js'
import type { StoredDocument } from '../stores/documents.js'
import { messageOf } from '../stores/store-error.js'
import type { Steps } from '../util/slices.js'
import { keyName, wrongOption } from '../util/validate.js'
import { fieldsOf, isObject } from '../util/values.js'
import {
  type History,
  historyAfter,
  historyIn,
  partsWithin,
  type StoredChange,
  writtenChanges,
} from './history.js'
import { documentSteps } from './read-document.js'

const OWNER = 'settings'
const REWRITE = 'Write it with settings.change.'
/** The most characters that every store can hold under one key. memcached holds a megabyte. */
const MAX_LENGTH = 1_000_000
/** More characters than a text has beside the document and its changes. */
const ENVELOPE_LENGTH = 100
const MAX_BY = 200
const MAX_REASON = 1000

/** A document with its last changes, as a store keeps it. */
export interface StoredSettings extends History {
  readonly document: SettingsDocument
}

/** The settings before the first change. */
export const NO_SETTINGS: StoredSettings = { document: { limits: {}, overrides: [] }, changes: [] }

/** Returns the value of a JSON text. Throws a `TypeError` for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new TypeError(
      `${OWNER}: the document must be valid JSON, got a syntax error (${messageOf(error)}).`,
    )
  }
}

/**
 * Returns a copy of a value as JSON keeps it: a `Date` becomes a string, for example. Writing and reading a
 * large document take some milliseconds each.
 */
export function* jsonSteps<T>(value: T): Steps<T> {
  if (value === undefined) return value
  const text = JSON.stringify(value)
  yield
  const copy = JSON.parse(text)
  yield
  return copy
}

/**
 * Reads what a store holds. Throws a `TypeError` if it is not a document with its changes. Reuses
 * the objects of an `earlier` document that are equal.
 */
export function* storedSteps(
  { text = '', damage }: StoredDocument,
  nowMs: number,
  earlier?: SettingsDocument,
): Steps<StoredSettings> {
  if (damage !== undefined)
    throw new TypeError(`${OWNER}: the stored value must be a document, got ${damage}. ${REWRITE}`)
  const value = parseJson(text)
  if (!isObject(value) || !('document' in value)) {
    throw wrongOption(OWNER, 'the stored value', 'an object with document and changes', value, REWRITE)
  }
  return { document: yield* documentSteps(value.document, nowMs, earlier), ...historyIn(value) }
}

/** Settings, and the text of them that a store keeps. */
export interface WrittenSettings {
  readonly settings: StoredSettings
  readonly text: string
}

/**
 * Returns the settings after a change. If the document is large, the differences of earlier changes make
 * room for it. Throws a `TypeError` if it is too long nevertheless.
 */
export function settingsAfter(
  before: History,
  document: SettingsDocument,
  change: StoredChange,
): WrittenSettings {
  const { changes, ...history } = historyAfter(before, change)
  const documentText = JSON.stringify(document)
  const bareText = JSON.stringify(partsWithin(changes, 0))
  const roomBytes = MAX_LENGTH - byteLengthOf(documentText) - byteLengthOf(bareText) - ENVELOPE_LENGTH
  const kept = partsWithin(changes, roomBytes)
  const rest = JSON.stringify({ changes: writtenChanges(kept), ...history }).slice(1)
  const text = `{"document":${documentText},${rest}`
  if (text.length <= MAX_LENGTH) return { settings: { document, changes: kept, ...history }, text }
  const must = `at most ${MAX_LENGTH} characters of JSON, including its changes`
  throw wrongOption(
    OWNER,
    'the document',
    must,
    text.length,
    'Use fewer overrides, or one for a whole prefix or network.',
  )
}

/**
 * Returns the record of a change. Throws a `TypeError` if `by` or `reason` is missing, or its `id` is wrong.
 */
export function readChange(origin: unknown, nowMs: number): StoredChange {
  const { by, reason, id = crypto.randomUUID() } = fieldsOf(origin)
  checkText('by', by, MAX_BY, "Write { by: 'ada', reason: 'a launch' }.")
  checkText('reason', reason, MAX_REASON, "Write { by: 'ada', reason: 'a launch' }.")
  return { by: String(by), reason: String(reason), atMs: nowMs, id: keyName(OWNER, 'id', id) }
}

function checkText(option: string, value: unknown, maxLength: number, fix: string): void {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxLength) return
  throw wrongOption(OWNER, option, `a string of 1 to ${maxLength} characters`, value, fix)
}

/** Returns who made a change, when and why. */
export function noteOf({ by, reason, atMs }: SettingsChange): ChangeNote {
  return { by, reason, atMs }
}

/** Returns a change as callers of `changes` see it. */
export function shownChange({
  id,
  by,
  reason,
  atMs,
  parts,
  partCount,
  undoes,
}: StoredChange): SettingsChange {
  return {
    id,
    by,
    reason,
    atMs,
    ...(parts && { parts }),
    ...(partCount !== undefined && { partCount }),
    ...(undoes !== undefined && { undoes }),
  }
}

/** Returns a change as a conflict of one part shows it: others may have a thousand. */
export function bareChange(change: StoredChange): SettingsChange {
  const { parts: _parts, ...bare } = shownChange(change)
  return bare
}
