import type {
  ChangedPart,
  GivenDocument,
  SettingsDocument,
  SettingsOverride,
} from '../limiter/settings-document.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { inSlices } from '../util/slices.js'
import { TimeoutError } from '../util/timeout.js'
import { wrongOption } from '../util/validate.js'
import type { SharedDocument } from './document-poller.js'
import type { Latest } from './latest-document.js'
import type { CheckAdded } from './read-document.js'
import { endOf } from './read-override.js'
import { jsonSteps, type StoredSettings } from './stored-settings.js'

/** How long an attempt waits for a reply of the store, and for an edit. */
export const TIMEOUT_MS = 5000

/** Returns a new document, made from the latest one. */
export type Edit = (document: SettingsDocument) => MaybePromise<GivenDocument>

/** Limits the time for which work is awaited. Rejects with `TimeoutError`. */
export type Within = <T>(work: Promise<T>) => Promise<T>

/** What makes the next document of the latest one. It is called again if another process comes first. */
export interface Revision {
  /** Returns the next document. Rejects if it cannot be made from the latest one. */
  revise(latest: Latest, shared: SharedDocument, within: Within): MaybePromise<unknown>
  /** Throws if the parts that have changed must not change. */
  readonly checkParts?: (latest: StoredSettings, parts: readonly ChangedPart[]) => void
  readonly checkAdded?: CheckAdded
  /** Whether the document replaces whatever the store holds. */
  readonly isWhole?: true
  /** The `id` of the change that it undoes. */
  readonly undoes?: string
}

/** Returns the revision that replaces the document. */
export function replacement(document: GivenDocument): Revision {
  return { revise: () => document, isWhole: true }
}

/**
 * Returns the revision that edits a copy of the latest document. It rejects with a `TypeError` if that takes
 * too long, or if nothing of the document can be read.
 */
export function editing(edit: Edit): Revision {
  return {
    checkAdded: checkEnd,
    async revise({ settings: { document }, damage, isUnreadable }, shared, within) {
      if (isUnreadable) {
        const fix = 'None of it can be kept: pass a whole document in place of edit, such as { limits: {} }.'
        throw new TypeError(`${damage?.message} ${fix}`, { cause: damage })
      }
      const copy = await inSlices(jsonSteps(document))
      shared.isEditing = true
      const edited = await within((async () => edit(copy))()).catch((error) => {
        if (error instanceof TimeoutError) throw editError(shared.key)
        shared.isEditing = false
        throw error
      })
      shared.isEditing = false
      return edited
    },
  }
}

/** Returns the error about an edit that did not end in time. */
export function editError(key: string): TypeError {
  const must = `edit must end within ${TIMEOUT_MS} ms, and must not wait for another change of ${key}`
  return new TypeError(`settings: ${must}. Load what it needs before you call change.`)
}

/**
 * Throws a `TypeError` for an override that has ended, which only a whole document may have, such as one
 * from a configuration file.
 */
function checkEnd(path: string, override: SettingsOverride): void {
  if (endOf(override) > Date.now()) return
  const fix = `It is now ${new Date().toISOString()}. Write a later time, or leave the override out.`
  throw wrongOption('settings', `${path}.until`, 'in the future', override.until, fix)
}

/** Throws a `TypeError` if the latest document is damaged, so that its parts are not known. */
export function checkIntact({ damage }: Latest): void {
  if (damage === undefined) return
  throw new TypeError(`${damage.message} Replace it with settings.change.`, { cause: damage })
}
