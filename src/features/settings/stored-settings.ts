import { messageOf } from '../../stores/store-error.js'
import { wrongOption } from '../../util/validate.js'
import { isObject } from '../../util/values.js'
import type { SettingsChange, SettingsDocument } from './document.js'
import { readDocument } from './read-document.js'

const OWNER = 'settings'
/** How many changes are kept. */
const MAX_CHANGES = 100
/** The most characters that every store can hold under one key. memcached holds a megabyte. */
const MAX_LENGTH = 1_000_000
const MAX_BY = 200
const MAX_REASON = 1000

/** A document with its last changes, the newest first, as a store keeps it. */
export interface StoredSettings {
  readonly document: SettingsDocument
  readonly changes: readonly StoredChange[]
}

/** A change with a unique `id`. After a lost reply, the `id` shows whether the change was made. */
interface StoredChange extends SettingsChange {
  readonly id: string
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

/** Reads the text that a store holds. Throws a `TypeError` if it is not a document with its changes. */
export function readStored(text: string, nowMs: number): StoredSettings {
  const value = parseJson(text)
  const stored = isObject(value) ? value : {}
  if (!('document' in stored)) {
    const fix = 'Write it with settings.change.'
    throw wrongOption(OWNER, 'the stored value', 'an object with document and changes', value, fix)
  }
  const changes = Array.isArray(stored.changes) ? (stored.changes as readonly StoredChange[]) : []
  return { document: readDocument(stored.document, nowMs), changes }
}

/** Returns the text to store after a change. Throws a `TypeError` if it is too long. */
export function textAfter(before: StoredSettings, document: SettingsDocument, change: StoredChange): string {
  const changes = [change, ...before.changes].slice(0, MAX_CHANGES)
  const text = JSON.stringify({ document, changes } satisfies StoredSettings)
  if (text.length <= MAX_LENGTH) return text
  const must = `at most ${MAX_LENGTH} characters of JSON, including its changes`
  throw wrongOption(
    OWNER,
    'the document',
    must,
    text.length,
    'Use fewer overrides, or one for a whole prefix or network.',
  )
}

/** Returns the record of a change. Throws a `TypeError` if `by` or `reason` is missing. */
export function readChange(origin: unknown, nowMs: number, id: string): StoredChange {
  const { by, reason } = isObject(origin) ? origin : {}
  checkText('by', by, MAX_BY, "Write { by: 'ada', reason: 'a launch' }.")
  checkText('reason', reason, MAX_REASON, "Write { by: 'ada', reason: 'a launch' }.")
  return { by: String(by), reason: String(reason), atMs: nowMs, id }
}

function checkText(option: string, value: unknown, maxLength: number, fix: string): void {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxLength) return
  throw wrongOption(OWNER, option, `a string of 1 to ${maxLength} characters`, value, fix)
}

/** Returns a change without its `id`. */
export function shownChange({ by, reason, atMs }: SettingsChange): SettingsChange {
  return { by, reason, atMs }
}
