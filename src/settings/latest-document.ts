import type { StoredDocument } from '../stores/documents.js'
import { StoreError } from '../stores/store-error.js'
import type { Steps } from '../util/slices.js'
import { type Fields, fieldsOf, isObject } from '../util/values.js'
import { continues, type History, historyIn, isEarlier } from './history.js'
import { NO_SETTINGS, type StoredSettings, storedSteps } from './stored-settings.js'

/** A document that this process has read or written, and the version under which it read it. */
export interface LocalCopy {
  readonly settings: StoredSettings
  readonly version?: string | undefined
  /** The history of the document that the store has had since it lost this one. */
  readonly foreign?: History | undefined
}

/** The latest document, which changes start from. */
export interface Latest {
  readonly settings: StoredSettings
  /** Why limiters do not follow what the store holds. */
  readonly problem?: StoreError | TypeError
  /**
   * Why the stored document is not valid, if changes start from it nevertheless. Then `settings` has the
   * parts of it that can be read.
   */
  readonly damage?: TypeError
  /** Whether nothing of the document can be read. Only a whole new one can replace it. */
  readonly isUnreadable?: boolean
  /** Whether a change replaces what the store holds, instead of continuing its history. */
  readonly replaces?: boolean
  /** What the store holds, if it has lost the document of this process. */
  readonly foreign?: History
}

/**
 * Returns the latest document: the stored one or, if the store has lost or damaged it, the last one that this
 * process knows. The limiters of all processes still follow that one.
 */
export function* latestSteps(
  store: string,
  found: StoredDocument | undefined,
  localCopy: LocalCopy | undefined,
  nowMs: number,
): Steps<Latest> {
  const settings = localCopy?.settings
  if (found === undefined)
    return settings ? { settings, problem: missingError(store), replaces: true } : { settings: NO_SETTINGS }
  if (settings !== undefined && found.version === localCopy?.version) return { settings }
  try {
    const stored = yield* storedSteps(found, nowMs, settings?.document)
    if (localCopy === undefined || !isLost(stored, localCopy))
      return { settings: stored, replaces: stored.changes.length === 0 }
    return {
      settings: localCopy.settings,
      problem: lossError(store, stored, localCopy),
      replaces: true,
      foreign: stored,
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const broken = salvage(found.text ?? '', error)
    if (settings === undefined) return { ...broken, problem: error }
    const problem = new TypeError(`${error.message} The last valid document still applies. ${RESTORE}.`)
    if (isEarlier(settings, broken.settings)) return { ...broken, problem } // later, by another version
    return { settings, problem, replaces: true }
  }
}

/**
 * Returns whether the store has lost a document that this process knows, although it holds another one. If
 * this process has only changed the document, and does not follow it, another process may have replaced it
 * since. Then only an earlier document is a loss.
 */
function isLost(stored: StoredSettings, { settings, version, foreign }: LocalCopy): boolean {
  return version === undefined ? isEarlier(stored, settings) : !continues(stored, settings, foreign)
}

/** Returns what can be read of a damaged text. */
function salvage(text: string, error: TypeError) {
  const value = fieldsIn(text)
  const isUnreadable = !isObject(value.document)
  const document = isUnreadable ? NO_SETTINGS.document : (value.document as never)
  return { settings: { ...historyIn(value), document }, damage: error, isUnreadable, replaces: true }
}

function fieldsIn(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

/** How an operator restores the document that processes still follow. */
const RESTORE = 'To restore it, call settings.change with (document) => document'

/** Returns the error about a document that the store no longer has. */
export function missingError(store: string): StoreError {
  return new StoreError(store, `the settings document is missing, so the last one still applies. ${RESTORE}`)
}

/**
 * Returns the error about a document that does not continue the last one. Either the store has reverted to
 * an earlier one, such as after a restart, or another process found none and began a new one.
 */
function lossError(store: string, stored: StoredSettings, { settings }: LocalCopy): StoreError {
  const problem = isEarlier(stored, settings)
    ? 'the store has an earlier settings document than before, so the last one still applies'
    : 'the settings document was lost, and another process began a new one, so the lost one still applies'
  const fix = isEarlier(stored, settings) ? '' : '. To follow the new one, restart this process'
  return new StoreError(store, `${problem}. ${RESTORE}${fix}`)
}
