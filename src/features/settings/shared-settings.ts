import { FOLLOW, type Follow, type SettingsSource } from '../../limiter/settings-source.js'
import { readOptions, withDefault } from '../../options/option-table.js'
import { readTogether } from '../../options/problems.js'
import { isStore } from '../../stores/shared/validate.js'
import type { Store } from '../../stores/store.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { keyName, wrongKind } from '../../util/validate.js'
import { changeDocument } from './change-document.js'
import type { GivenDocument, SettingsChange, SettingsDocument } from './document.js'
import { type DocumentStore, pollerOf } from './document-poller.js'
import { followDocument } from './follow-document.js'
import { readStored, shownChange } from './stored-settings.js'

/** Options of `sharedSettings`. */
export interface SharedSettingsOptions {
  /** What the keys of the documents start with, as the option `prefix` of the limiters. Default `'hg'`. */
  readonly prefix?: string
}

/** Settings in a store, which the limiters of all processes follow. */
export interface SharedSettings extends SettingsSource {
  /**
   * Returns the document of a limiter, by the limiter's name. Without one, it is `{ limits: {}, overrides:
   * [] }`. Rejects with `StoreError` if the store failed, and with `TypeError` if the document is not valid.
   */
  read(name: string): Promise<SettingsDocument>
  /**
   * Changes the document of a limiter. `edit` gets a copy, which it may change, and returns the next
   * document. It is called again if another process changes the document meanwhile, so no change is lost.
   * Overrides that have ended are removed. `by` and `reason` say who made the change, and why. Resolves with
   * the next document.
   *
   * Rejects with what `edit` throws, and with a `TypeError` for a document that is not valid; then nothing
   * has changed. If the store fails, the change is tried for ten seconds, and never made twice. Then it
   * rejects with a `StoreError`, and may have been made.
   */
  change(
    name: string,
    edit: (document: SettingsDocument) => MaybePromise<GivenDocument>,
    origin: { readonly by: string; readonly reason: string },
  ): Promise<SettingsDocument>
  /** Returns the last 100 changes of a document, the newest first. */
  changes(name: string): Promise<readonly SettingsChange[]>
}

const OPTIONS = { rows: { prefix: withDefault('hg', keyName) } }

/**
 * Creates settings that are documents in a store, one for each limiter: limits, mode, candidate and
 * overrides. Limiters of any process follow them with the option `settings`.
 *
 * - A process reads the documents of its limiters when they are created, and then once a second, in one read
 *   for each store. Until the first read is back, the limiter does as the code says. No charge waits for it.
 * - If the store fails, or a document is not valid or gone, the last one applies. The limiter emits
 *   `settingsFailed`.
 *
 * Throws a `TypeError` for wrong options, and for a store that keeps no documents.
 */
export function sharedSettings(store: Store, options: SharedSettingsOptions = {}): SharedSettings {
  const [kept, { prefix }] = readTogether(
    'sharedSettings',
    () => readDocumentStore(store),
    () => readOptions('sharedSettings', options, OPTIONS),
  )
  const keyOf = (name: unknown) => `${prefix}:settings:${keyName('settings', 'name', name)}`
  const poller = pollerOf(kept)

  async function readAll(name: string) {
    const [found] = await kept.documents.read([{ key: keyOf(name) }])
    return found?.text === undefined ? undefined : readStored(found.text, Date.now())
  }

  return {
    [FOLLOW]: ((limiter) =>
      followDocument(
        { follow: (follower) => poller.follow(keyOf(limiter.name), follower), pollIfDue: poller.pollIfDue },
        limiter,
      )) satisfies Follow,
    read: async (name) => (await readAll(name))?.document ?? { limits: {}, overrides: [] },
    async change(name, edit, origin) {
      const document = await changeDocument(kept, keyOf(name), edit, origin)
      await poller.refresh(keyOf(name))
      return document
    },
    changes: async (name) => (await readAll(name))?.changes.map(shownChange) ?? [],
  }
}

/** Returns a store that keeps documents. Throws a `TypeError` for anything else. */
function readDocumentStore(store: unknown): DocumentStore {
  if (!isStore(store))
    throw wrongKind('sharedSettings', 'store', 'a store', store, 'Write sharedSettings(redisStore(client)).')
  const { name, documents } = store
  if (documents !== undefined) return { name, documents }
  const problem = `store must keep documents, and ${name} keeps none`
  throw new TypeError(`sharedSettings: ${problem}. Give its builder the option documents.`)
}
