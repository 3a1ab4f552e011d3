import type { GivenDocument, SettingsDocument, SettingsOverride } from '../limiter/settings-document.js'
import { asStoreError, StoreError } from '../stores/store-error.js'
import { pause } from '../util/defer.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { inSlices } from '../util/slices.js'
import { TimeoutError } from '../util/timeout.js'
import { wrongKind, wrongOption } from '../util/validate.js'
import { isFunction } from '../util/values.js'
import type { DocumentPoller, SharedDocument } from './document-poller.js'
import type { StoredChange } from './history.js'
import type { Latest } from './latest-document.js'
import { checkLength, documentSteps } from './read-document.js'
import { checkNetwork, checkWellFormed, endOf } from './read-override.js'
import { jsonSteps, readChange, type StoredSettings, settingsAfter, textOf } from './stored-settings.js'

/** How long a change is retried while the store fails, or other processes change the document. */
const MAX_ELAPSED_MS = 10_000
/** How long an attempt waits for a reply of the store, and for an edit. */
const TIMEOUT_MS = 5000
const MAX_DELAY_MS = 200

export type Edit = (document: SettingsDocument) => MaybePromise<GivenDocument>

/**
 * Changes a document, once the changes that this process began earlier are done. Rejects after ten seconds,
 * which include the wait for earlier changes. Rejects with a `TypeError` if an edit takes five seconds.
 */
export async function changeDocument(
  poller: DocumentPoller,
  shared: SharedDocument,
  edit: Edit,
  origin: unknown,
): Promise<StoredSettings> {
  if (!isFunction(edit))
    throw wrongKind('settings', 'edit', 'a function', edit, 'Write (document) => document.')
  const change = readChange(origin, Date.now(), crypto.randomUUID())
  const { key, changed: earlier } = shared
  const { name } = poller.store
  const endMs = performance.now() + MAX_ELAPSED_MS
  const written = beforeEnd(earlier, endMs).then(() => swapUntilMade(poller, shared, edit, change, endMs))
  shared.changed = Promise.allSettled([earlier, written]).then(() => undefined)
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
  edit: Edit,
  change: StoredChange,
  endMs: number,
): Promise<StoredSettings> {
  const { name, documents } = poller.store
  const { key, feed } = shared
  const within = <T>(work: Promise<T>) => beforeEnd(work, Math.min(endMs, performance.now() + TIMEOUT_MS))

  async function attempt(): Promise<StoredSettings | undefined> {
    const latest = await poller.latest(shared, within)
    const { settings, damage, replaces, version } = latest
    if (settings.changes.some(({ id }) => id === change.id)) return settings
    const { value, isWhole } = await editLatest(shared, latest, edit, within)
    const earlier = damage === undefined ? settings.document : undefined
    const check = (path: string, override: SettingsOverride) => checkAdded(path, override, isWhole)
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

/** What an edit returned. */
interface Edited {
  /** A copy that has passed through JSON. */
  readonly value: unknown
  /** Whether it is a whole document, made without reading the last one. */
  readonly isWhole: boolean
}

/** Edits a copy of the latest document. Rejects with a `TypeError` if that takes too long. */
async function editLatest(
  shared: SharedDocument,
  { settings: { document }, damage }: Latest,
  edit: Edit,
  within: <T>(work: Promise<T>) => Promise<T>,
): Promise<Edited> {
  let isRead = edit.length > 0 || damage !== undefined
  const copy = damage === undefined ? await inSlices(jsonSteps(document)) : document
  if (!isRead)
    watchReads(copy, () => {
      isRead = true
    })
  shared.isEditing = true
  const value = await within((async () => edit(copy))()).catch((error) => {
    if (error instanceof TimeoutError) throw editError(shared.key)
    shared.isEditing = false
    throw error
  })
  shared.isEditing = false
  checkLength(value)
  return { value: await inSlices(jsonSteps(value)), isWhole: !isRead }
}

/**
 * Calls `onRead` when an edit reads its copy. This is for edits without a declared parameter, which can
 * still read it through a rest parameter or in a wrapper. Other edits get a plain copy, which prints as
 * usual.
 */
function watchReads(copy: SettingsDocument, onRead: () => void): void {
  for (const [name, value] of Object.entries(copy)) {
    let current: unknown = value
    Object.defineProperty(copy, name, {
      enumerable: true,
      configurable: true,
      get() {
        onRead()
        return current
      },
      set(next) {
        current = next
      },
    })
  }
}

function editError(key: string): TypeError {
  const must = `edit must end within ${TIMEOUT_MS} ms, and must not wait for another change of ${key}`
  return new TypeError(`settings: ${must}. Load what it needs before you call change.`)
}

/**
 * Throws a `TypeError` for an override that looks right, but would never apply or would apply to more than
 * it seems to. A whole document, such as one from a configuration file, may have overrides that have ended.
 */
function checkAdded(path: string, override: SettingsOverride, isWhole: boolean): void {
  checkWellFormed(path, override)
  checkNetwork(path, override)
  if (isWhole || endOf(override) > Date.now()) return
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
