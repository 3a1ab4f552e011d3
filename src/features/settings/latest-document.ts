import type { StoredDocument } from '../../stores/documents.js'
import { StoreError } from '../../stores/store-error.js'
import type { Steps } from '../../util/slices.js'
import { isObject } from '../../util/values.js'
import type { SettingsDocument } from './document.js'
import {
  changesIn,
  NO_SETTINGS,
  type StoredChange,
  type StoredSettings,
  storedSteps,
} from './stored-settings.js'

/** How an operator restores the document that processes still follow. */
const RESTORE = 'To restore it, call settings.change with (document) => document'

/** A document that this process has read or written, and the version under which it read it. */
export interface KnownSettings {
  readonly settings: StoredSettings
  readonly version?: string | undefined
}

/** What a change starts from. */
export interface LatestSettings {
  readonly changes: readonly StoredChange[]
  /** The document. If no valid one is known, the invalid one as it is stored. */
  readonly document: SettingsDocument
  /** Why the stored document is not valid, if no valid one is known. */
  readonly damage?: TypeError
}

/**
 * Returns the latest document: the stored one or, if the store has lost it, damaged it or reverted to an
 * earlier one, the last one that this process knows. The limiters of all processes still follow that one.
 */
export function* latestSteps(
  found: StoredDocument | undefined,
  known: KnownSettings | undefined,
  nowMs: number,
): Steps<LatestSettings> {
  if (found === undefined) return known?.settings ?? NO_SETTINGS
  if (known !== undefined && found.version === known.version) return known.settings
  const text = found.text ?? ''
  try {
    const stored = yield* storedSteps(text, nowMs, known?.settings.document)
    return known !== undefined && isEarlier(stored, known.settings) ? known.settings : stored
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const { document, changes } = readDamaged(text)
    const isLater = known !== undefined && isEarlier(known.settings, { changes }) // another version wrote it
    if (known !== undefined && !isLater) return known.settings
    return { document: isObject(document) ? (document as never) : unreadable(error), changes, damage: error }
  }
}

/** Returns whether changes to these settings led to the others. */
export function isEarlier(
  { changes: [last] }: Pick<StoredSettings, 'changes'>,
  { changes: [, ...before] }: Pick<StoredSettings, 'changes'>,
): boolean {
  return last !== undefined && before.some(({ id }) => id === last.id)
}

/** Returns what can be read of a damaged text. */
function readDamaged(text: string): { document?: unknown; changes: readonly StoredChange[] } {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { document: value.document, changes: changesIn(value) } : { changes: [] }
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
export function earlierError(store: string): StoreError {
  return new StoreError(
    store,
    `the store has an earlier settings document than before, so the last one still applies. ${RESTORE}`,
  )
}

/** Returns the error about a document that is not valid, while the last valid one applies. */
export function damagedError({ message }: TypeError): TypeError {
  return new TypeError(`${message} The last valid document still applies. ${RESTORE}.`)
}
