import type { StoredDocument } from '../../stores/documents.js'
import { StoreError } from '../../stores/store-error.js'
import type { Steps } from '../../util/slices.js'
import { isObject } from '../../util/values.js'
import type { SettingsDocument } from './document.js'
import { continues, type History, historyIn, isEarlier } from './history.js'
import { NO_SETTINGS, type StoredSettings, storedSteps } from './stored-settings.js'

/** How an operator restores the document that processes still follow. */
const RESTORE = 'To restore it, call settings.change with (document) => document'

/** A document that this process has read or written, and the version under which it read it. */
export interface LocalCopy {
  readonly settings: StoredSettings
  readonly version?: string | undefined
  /** The history of the document that the store has had since it lost this one. */
  readonly foreign?: History | undefined
}

/** What a change starts from. */
export interface LatestSettings extends History {
  /** The document. If no valid one is known, the invalid one as it is stored. */
  readonly document: SettingsDocument
  /** Why the stored document is not valid, if no valid one is known. */
  readonly damage?: TypeError
  /** Whether a change replaces what the store holds, instead of continuing a history there. */
  readonly replaces?: boolean
}

/**
 * Returns the latest document: the stored one or, if the store has lost or damaged it, the last one that this
 * process knows. The limiters of all processes still follow that one.
 */
export function* latestSteps(
  found: StoredDocument | undefined,
  localCopy: LocalCopy | undefined,
  nowMs: number,
): Steps<LatestSettings> {
  if (found === undefined) return localCopy ? { ...localCopy.settings, replaces: true } : NO_SETTINGS
  if (localCopy !== undefined && found.version === localCopy.version) return localCopy.settings
  const text = found.text ?? ''
  try {
    const stored = yield* storedSteps(text, nowMs, localCopy?.settings.document)
    if (localCopy !== undefined && isLost(stored, localCopy)) return { ...localCopy.settings, replaces: true }
    return { ...stored, replaces: stored.changes.length === 0 }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const { document, ...history } = readDamaged(text)
    const isLater = localCopy !== undefined && isEarlier(localCopy.settings, history) // another version wrote it
    if (localCopy !== undefined && !isLater) return { ...localCopy.settings, replaces: true }
    const given = isObject(document) ? (document as never) : unreadable(error)
    return { ...history, document: given, damage: error, replaces: true }
  }
}

/**
 * Returns whether the store has lost a document that this process knows, although it holds another one. If
 * this process has only changed the document, and does not follow it, another may have replaced it since.
 */
function isLost(stored: StoredSettings, { settings, version, foreign }: LocalCopy): boolean {
  return version === undefined ? isEarlier(stored, settings) : !continues(stored, settings, foreign)
}

/** Throws an error if a document must not come into force in place of one that limiters follow. */
export function checkNotLost(store: string, stored: StoredSettings, localCopy: LocalCopy): void {
  if (localCopy.version === undefined || !isLost(stored, localCopy)) return
  throw isEarlier(stored, localCopy.settings) ? earlierError(store) : begunError(store)
}

/** Returns what can be read of a damaged text. */
function readDamaged(text: string): History & { document?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { document: value.document, ...historyIn(value) } : { changes: [] }
  } catch {
    return { changes: [] }
  }
}

/** Stands for a document that cannot be read. An edit can replace it if it does not read it. */
function unreadable({ message }: TypeError): SettingsDocument {
  const fail = () => {
    throw new TypeError(
      `${message} None of it can be kept: return a whole document from edit, such as () => ({ limits: {} }).`,
    )
  }
  return new Proxy<SettingsDocument>(Object.create(null), {
    get: fail,
    has: fail,
    ownKeys: fail,
    set: fail,
    getOwnPropertyDescriptor: fail,
  })
}

/** Returns the error about a document that the store no longer has. */
export function missingError(store: string): StoreError {
  return new StoreError(store, `the settings document is missing, so the last one still applies. ${RESTORE}`)
}

/** Returns the error about a store that has reverted to an earlier document, such as after a restart. */
function earlierError(store: string): StoreError {
  return new StoreError(
    store,
    `the store has an earlier settings document than before, so the last one still applies. ${RESTORE}`,
  )
}

/** Returns the error about a document that does not continue the last one. */
function begunError(store: string): StoreError {
  return new StoreError(
    store,
    'the settings document was lost, and another process began a new one, so the last one still applies. ' +
      `${RESTORE}. To follow the new one, restart this process`,
  )
}

/** Returns the error about a document that is not valid, while the last valid one applies. */
export function damagedError({ message }: TypeError): TypeError {
  return new TypeError(`${message} The last valid document still applies. ${RESTORE}.`)
}
