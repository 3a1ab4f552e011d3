import type { GivenDocument, SettingsDocument, SettingsOverride } from '../limiter/settings-document.js'
import { isIsolate } from '../platform.js'
import { asStoreError, StoreError } from '../stores/store-error.js'
import { pause } from '../util/defer.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { inSlices } from '../util/slices.js'
import { TimeoutError } from '../util/timeout.js'
import { wrongKind, wrongOption } from '../util/validate.js'
import { isFunction, isObject } from '../util/values.js'
import type { DocumentPoller, SharedDocument } from './document-poller.js'
import type { StoredChange } from './history.js'
import type { Latest } from './latest-document.js'
import { checkLength, documentSteps } from './read-document.js'
import { endOf } from './read-override.js'
import { jsonSteps, readChange, type StoredSettings, settingsAfter, textOf } from './stored-settings.js'

/** How long a change is retried while the store fails, or other processes change the document. */
const MAX_ELAPSED_MS = 10_000
/** How long an attempt waits for a reply of the store, and for an edit. */
const TIMEOUT_MS = 5000
const MAX_DELAY_MS = 200

/** Returns a new document, made from the latest one. */
export type Edit = (document: SettingsDocument) => MaybePromise<GivenDocument>

/**
 * Changes a document, or replaces it by another one, once the changes that this process began earlier are
 * done. Rejects after ten seconds, which include the wait for earlier changes. Rejects with a `TypeError` if
 * an edit takes five seconds.
 */
export async function changeDocument(
  poller: DocumentPoller,
  shared: SharedDocument,
  edit: Edit | GivenDocument,
  origin: unknown,
): Promise<StoredSettings> {
  if (!isFunction(edit) && !isObject(edit))
    throw wrongKind('settings', 'edit', 'a function or a document', edit, 'Write (document) => document.')
  const change = readChange(origin, Date.now(), crypto.randomUUID())
  const { key, changed: earlier } = shared
  const { name } = poller.store
  const endMs = performance.now() + MAX_ELAPSED_MS
  const written = beforeEnd(earlier, endMs).then(() => swapUntilMade(poller, shared, edit, change, endMs))
  // On isolates, a change does not wait for those of other requests. They compete, and one of them retries.
  if (!isIsolate()) shared.changed = Promise.allSettled([earlier, written]).then(() => undefined)
  try {
    return await written
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    if (shared.isEditing) throw editError(key)
    throw new StoreError(name, `earlier changes to ${key} did not end within ${MAX_ELAPSED_MS} ms`)
  }
}

/**
 * Reads the document, edits it, and writes it if no other process has changed it since. Retries until that
 * succeeds. If the outcome of a write is unknown, the next read shows whether the change was made.
 */
async function swapUntilMade(
  poller: DocumentPoller,
  shared: SharedDocument,
  edit: Edit | GivenDocument,
  change: StoredChange,
  endMs: number,
): Promise<StoredSettings> {
  const { name, documents } = poller.store
  const { key, feed } = shared
  const isWhole = typeof edit !== 'function'
  const within = <T>(work: Promise<T>) => beforeEnd(work, Math.min(endMs, performance.now() + TIMEOUT_MS))

  async function attempt(): Promise<StoredSettings | undefined> {
    const latest = await poller.latest(shared, within)
    const { settings, damage, replaces, version } = latest
    if (settings.changes.some(({ id }) => id === change.id)) return settings
    const edited = typeof edit !== 'function' ? edit : await editLatest(shared, latest, edit, within)
    checkLength(edited)
    const value = await inSlices(jsonSteps(edited))
    const earlier = damage === undefined ? settings.document : undefined
    const check = isWhole ? undefined : checkEnd
    const document = await inSlices(documentSteps(value, Date.now(), earlier, check))
    await inSlices(feed.check(document, earlier))
    const mark = replaces || isWhole ? { replaces: true as const } : {}
    const next = settingsAfter(settings, document, { ...change, ...mark })
    return (await within(documents.replace(key, textOf(next), version))) ? next : undefined
  }

  let failure = new StoreError(name, `other processes changed ${key} during every attempt`)
  for (let attempts = 1; ; attempts++) {
    try {
      const made = await attempt()
      if (made !== undefined) return made
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof TimeoutError)) throw error
      failure = asStoreError(name, error)
      if (failure.replied) throw failure
    }
    await pause(Math.random() * Math.min(2 ** attempts, MAX_DELAY_MS))
    if (performance.now() >= endMs) throw failure
  }
}

/**
 * Edits a copy of the latest document. Rejects with a `TypeError` if that takes too long, or if nothing of
 * the document can be read.
 */
async function editLatest(
  shared: SharedDocument,
  { settings: { document }, damage, isUnreadable }: Latest,
  edit: Edit,
  within: <T>(work: Promise<T>) => Promise<T>,
): Promise<unknown> {
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
}

function editError(key: string): TypeError {
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

/** Rejects with `TimeoutError` if work has not ended by a time of `performance.now()`. */
function beforeEnd<T>(work: Promise<T>, endMs: number): Promise<T> {
  const leftMs = Math.max(0, endMs - performance.now())
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError(Math.round(leftMs))), leftMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
