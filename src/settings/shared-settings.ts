import type { GivenDocument, SettingsChange, SettingsDocument } from '../limiter/settings-document.js'
import { type DocumentSource, FOLLOW, type SettingsSource } from '../limiter/settings-source.js'
import { readOptions, withDefault } from '../options/option-table.js'
import { readTogether } from '../options/problems.js'
import { isStore } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { inSlices } from '../util/slices.js'
import { keyName, wrongKind } from '../util/validate.js'
import { fieldsOf, isFunction, isObject } from '../util/values.js'
import { basedOn, merging, readBase } from './based-on.js'
import { changeDocument } from './change-document.js'
import { type DocumentStore, pollerOf } from './document-poller.js'
import { followDocument } from './follow-document.js'
import type { RecordedSettings } from './in-force.js'
import { checkIntact, type Edit, editing, type Revision, replacement } from './revision.js'
import { jsonSteps, type StoredSettings, shownChange } from './stored-settings.js'
import { undoing } from './undo.js'

/** Options of `sharedSettings`. */
export interface SharedSettingsOptions {
  /** The prefix of the documents' keys, like the option `prefix` of a limiter. Default `'hg'`. */
  readonly prefix?: string
}

/** Who makes a change, and why. */
export interface ChangeOrigin {
  readonly by: string
  readonly reason: string
  /**
   * The `id` of the change, such as a UUID. A change with the `id` of one of the last 100 changes is not made
   * again, so a caller that has not heard of the result may repeat it. Default: a new UUID.
   */
  readonly id?: string
}

/** Settings in a store, which the limiters of all processes follow. */
export interface SharedSettings extends SettingsSource {
  /**
   * Returns the document of a limiter, by the limiter's name. If there is none yet, returns `{ limits: {},
   * overrides: [] }`. If the store has lost or damaged the document, or holds an earlier one, returns the
   * last one that this process followed or changed. If it holds one that was begun after the loss, returns
   * the last one that this process follows. Rejects with `StoreError` if the store failed, and with
   * `TypeError` if the document is invalid and this process knows no other.
   */
  read(name: string): Promise<SettingsDocument>
  /**
   * Changes the document of a limiter, and resolves with the new document. `edit` gets a copy of what `read`
   * returns, which it may modify, and returns the new document. If another process changes the document in
   * the meantime, `edit` is called again, so no change is lost. Overrides that have ended are removed. `by`
   * and `reason` record who made the change, and why.
   *
   * A document in place of `edit`, such as one from a configuration file, replaces whatever the store holds.
   *
   * To write back a document that the store has lost, pass `(document) => document` in a process that
   * follows it. In a process that knows no document, `edit` begins a new one, which limiters that follow the
   * lost one ignore. They follow a document that is passed in place of `edit`. If `read` rejects with a
   * `TypeError`, `edit` gets the invalid document to repair. If nothing of that can be read, only a whole
   * document can replace it.
   *
   * With `basedOn`, the `id` of the latest change when the document was read, or `null` if there was none, a
   * change of parts that others have changed since rejects with a `SettingsConflictError`. Other parts are
   * merged: a whole document changes only what it changed in that version.
   *
   * Rejects with what `edit` throws, and with a `TypeError` if the new document is invalid, or does not fit
   * a limiter of this process that follows it. In these cases, nothing has changed. `edit` has five seconds.
   * If the store fails, retries for ten seconds, and never makes the change twice. If it still fails,
   * rejects with a `StoreError`. The change may still have been made.
   */
  change(
    name: string,
    edit: ((document: SettingsDocument) => MaybePromise<GivenDocument>) | GivenDocument,
    origin: ChangeOrigin & { readonly basedOn?: string | null },
  ): Promise<SettingsDocument>
  /**
   * Restores what a change replaced, and resolves with the new document. This is a change itself, which can
   * be undone. Rejects with a `SettingsConflictError` if a later change has changed the same parts. Rejects
   * with a `TypeError` if it is not known what the change changed, or if nothing of it is left. Otherwise, it
   * rejects as `change` does.
   */
  undo(name: string, id: string, origin: ChangeOrigin): Promise<SettingsDocument>
  /**
   * Returns the last 100 changes to the document that `read` returns, the newest first, each with what it
   * changed.
   */
  changes(name: string): Promise<readonly SettingsChange[]>
  /**
   * Returns the document and its last changes, in one read. The `id` of the first is the `basedOn` of a
   * change to this document. Rejects as `read` does.
   */
  readWithChanges(name: string): Promise<RecordedSettings>
}

const OPTIONS = { rows: { prefix: withDefault('hg', keyName) } }

/**
 * Creates settings that limiters in all processes follow, as documents in a store. Pass them to limiters as
 * the option `settings`. Each limiter has one document, with limits, mode, candidate and overrides.
 *
 * - A process reads the documents of its limiters when they are created, and then once a second. One read
 *   per store fetches all of them. Until the first read completes, the code's rules apply. No charge waits
 *   for it.
 * - If the store fails, or a document is missing or invalid, the last valid one still applies. The limiter
 *   emits `settingsFailed`.
 * - A limiter skips a limit that does not fit it, such as one above the maximum of its policy. It applies
 *   the rest of the document, and emits `settingsFailed`.
 * - A large document is read in slices of some milliseconds. All of its rules come into force in one moment.
 *
 * Throws a `TypeError` for wrong options, and for a store that does not support documents.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { rateLimit, sharedSettings } from 'headgate'
 * import { redisStore } from 'headgate/redis'
 *
 * const store = redisStore(new Redis({ autoResendUnfulfilledCommands: false }))
 * const settings = sharedSettings(store)
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', store, settings })
 *
 * const raised = { limits: { api: { limit: 200 } } }
 * const note = { by: 'ada', reason: 'launch day' }
 * export const raise = () => settings.change('api', (now) => ({ ...now, ...raised }), note)
 * ```
 */
export function sharedSettings(store: Store, options: SharedSettingsOptions = {}): SharedSettings {
  const [kept, { prefix }] = readTogether(
    'sharedSettings',
    () => readDocumentStore(store),
    () => readOptions('sharedSettings', options, OPTIONS),
  )
  const poller = pollerOf(kept)
  const keyOf = (name: string) => settingsKey(prefix, name)
  const documentOf = (name: string) => poller.documentOf(keyOf(name))

  async function readValid(name: string): Promise<StoredSettings> {
    const latest = await poller.latest(documentOf(name))
    checkIntact(latest)
    return latest.settings
  }

  async function revise(name: string, revision: Revision, origin: unknown): Promise<SettingsDocument> {
    const shared = documentOf(name)
    const settings = await changeDocument(poller, shared, revision, origin)
    await poller.refresh(shared, settings)
    return inSlices(jsonSteps(settings.document))
  }

  return {
    [FOLLOW]: {
      follow: (limiter) =>
        followDocument(
          (follower) => poller.follow(keyOf(limiter.core.settings.context.name ?? ''), follower),
          limiter,
        ),
      pollIfDue: poller.pollIfDue,
    } satisfies DocumentSource,
    async read(name) {
      return inSlices(jsonSteps((await readValid(name)).document))
    },
    change: async (name, edit, origin) => revise(name, revisionOf(edit, origin), origin),
    undo: (name, id, origin) => revise(name, undoing(id), origin),
    async changes(name) {
      const { settings } = await poller.latest(documentOf(name))
      return inSlices(jsonSteps(settings.changes.map(shownChange)))
    },
    async readWithChanges(name) {
      const { document, changes } = await readValid(name)
      return inSlices(jsonSteps({ document, changes: changes.map(shownChange) }))
    },
  }
}

/** Returns the key of a limiter's document. */
export function settingsKey(prefix: string, limiter: string): string {
  return `${prefix}:settings:${keyName('settings', 'name', limiter)}`
}

/** Returns the revision that a caller of `change` asks for. Throws a `TypeError` for a wrong `edit`. */
function revisionOf(edit: unknown, origin: unknown): Revision {
  if (!isFunction(edit) && !isObject(edit))
    throw wrongKind('settings', 'edit', 'a function or a document', edit, 'Write (document) => document.')
  const { basedOn: given } = fieldsOf(origin)
  const base = given === undefined ? undefined : readBase(given)
  if (!isFunction(edit)) return base === undefined ? replacement(edit) : merging(edit, base)
  const edited = editing(edit as Edit)
  return base === undefined ? edited : basedOn(base, edited)
}

/** Returns a store that supports documents. Throws a `TypeError` for anything else. */
function readDocumentStore(store: unknown): DocumentStore {
  if (!isStore(store))
    throw wrongKind('sharedSettings', 'store', 'a store', store, 'Write sharedSettings(redisStore(client)).')
  const { name, documents } = store
  if (documents !== undefined) return { name, documents }
  const problem = `store must support documents, but ${name} does not`
  throw new TypeError(`sharedSettings: ${problem}. Pass the option documents to its builder.`)
}
