import { StoreError } from '../../stores/store-error.js'
import { pause } from '../../util/defer.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { TimeoutError, timeout } from '../../util/timeout.js'
import { wrongKind } from '../../util/validate.js'
import { isFunction } from '../../util/values.js'
import type { GivenDocument, SettingsDocument } from './document.js'
import type { DocumentStore } from './document-poller.js'
import { readDocument } from './read-document.js'
import { NO_SETTINGS, readChange, readStored, type StoredSettings, textAfter } from './stored-settings.js'

/** How long a change is retried while the store fails, or others change the document. */
const MAX_ELAPSED_MS = 10_000
/** How long an attempt waits for a reply of the store. */
const TIMEOUT_MS = 5000
const MAX_DELAY_MS = 200

type Edit = (document: SettingsDocument) => MaybePromise<GivenDocument>

/**
 * This process's changes in progress, by store and key. They run one after another, so they never conflict.
 */
const pending = new WeakMap<object, Map<string, Promise<unknown>>>()

/** Changes a document, once the changes that this process began earlier are done. */
export async function changeDocument(
  store: DocumentStore,
  key: string,
  edit: Edit,
  origin: unknown,
): Promise<SettingsDocument> {
  if (!isFunction(edit))
    throw wrongKind('settings', 'edit', 'a function', edit, 'Write (document) => document.')
  const change = readChange(origin, Date.now(), crypto.randomUUID())
  const ofStore = pending.get(store.documents) ?? new Map<string, Promise<unknown>>()
  pending.set(store.documents, ofStore)
  const earlier = ofStore.get(key)
  const made = (earlier ?? Promise.resolve()).then(() => swapUntilMade(store, key, edit, change))
  const settled = made.then(
    () => undefined,
    () => undefined,
  )
  ofStore.set(key, settled)
  try {
    return await made
  } finally {
    if (ofStore.get(key) === settled) ofStore.delete(key)
  }
}

/**
 * Reads the document, edits it, and writes it if no other process has changed it since. Retries until that
 * succeeds. If the outcome of a write is unknown, the next read shows whether the change was made.
 */
async function swapUntilMade(
  { name, documents }: DocumentStore,
  key: string,
  edit: Edit,
  change: ReturnType<typeof readChange>,
): Promise<SettingsDocument> {
  const within = timeout(TIMEOUT_MS)
  const endMs = performance.now() + MAX_ELAPSED_MS
  let failure = new StoreError(name, `other processes changed ${key} during every attempt`)

  async function attempt(): Promise<SettingsDocument | undefined> {
    const [found] = await within(documents.read([{ key }]))
    const before: StoredSettings =
      found?.text === undefined ? NO_SETTINGS : readStored(found.text, Date.now())
    if (before.changes.some(({ id }) => id === change.id)) return before.document
    const edited = await edit(asJson(before.document) as SettingsDocument)
    const document = readDocument(asJson(edited), Date.now())
    const isWritten = await within(
      documents.replace(key, textAfter(before, document, change), found?.version),
    )
    return isWritten ? document : undefined
  }

  for (let attempts = 1; ; attempts++) {
    try {
      const document = await attempt()
      if (document !== undefined) return document
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof TimeoutError)) throw error
      if (error instanceof StoreError && error.replied) throw error
      failure = error instanceof StoreError ? error : new StoreError(name, error.message, { cause: error })
    }
    if (performance.now() > endMs) throw failure
    await pause(Math.random() * Math.min(2 ** attempts, MAX_DELAY_MS))
  }
}

/** Returns a value as JSON keeps it: a `Date` becomes a string. */
function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
