import { isIsolate } from '../platform.js'
import { asStoreError, StoreError } from '../stores/store-error.js'
import { pause } from '../util/defer.js'
import { inSlices } from '../util/slices.js'
import { TimeoutError } from '../util/timeout.js'
import type { DocumentPoller, SharedDocument } from './document-poller.js'
import type { StoredChange } from './history.js'
import { differences, partsOf } from './parts.js'
import { checkLength, documentSteps } from './read-document.js'
import { editError, type Revision, TIMEOUT_MS } from './revision.js'
import { jsonSteps, readChange, type StoredSettings, settingsAfter } from './stored-settings.js'

/** How long a change is retried while the store fails, or other processes change the document. */
const MAX_ELAPSED_MS = 10_000
const MAX_DELAY_MS = 200

/**
 * Changes a document by a revision, once the changes that this process began earlier are done. Rejects after
 * ten seconds, which include the wait for earlier changes. Rejects with a `TypeError` if an edit takes five
 * seconds.
 */
export async function changeDocument(
  poller: DocumentPoller,
  shared: SharedDocument,
  revision: Revision,
  origin: unknown,
): Promise<StoredSettings> {
  const change = readChange(origin, Date.now())
  const { key, changed: earlier } = shared
  const { name } = poller.store
  const endMs = performance.now() + MAX_ELAPSED_MS
  const written = beforeEnd(earlier, endMs).then(() => swapUntilMade(poller, shared, revision, change, endMs))
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
 * Reads the document, revises it, and writes it if no other process has changed it since. Retries until that
 * succeeds. If the outcome of a write is unknown, the next read shows whether the change was made.
 */
async function swapUntilMade(
  poller: DocumentPoller,
  shared: SharedDocument,
  revision: Revision,
  change: StoredChange,
  endMs: number,
): Promise<StoredSettings> {
  const { name, documents } = poller.store
  const { key, feed } = shared
  const { isWhole, undoes, checkParts, checkAdded } = revision
  const within = <T>(work: Promise<T>) => beforeEnd(work, Math.min(endMs, performance.now() + TIMEOUT_MS))

  async function attempt(): Promise<StoredSettings | undefined> {
    const latest = await poller.latest(shared, within)
    const { settings, damage, replaces, version } = latest
    if (settings.changes.some(({ id }) => id === change.id)) return settings
    const revised = await revision.revise(latest, shared, within)
    checkLength(revised)
    const value = await inSlices(jsonSteps(revised))
    const earlier = damage === undefined ? settings.document : undefined
    const nowMs = Date.now()
    const document = await inSlices(documentSteps(value, nowMs, earlier, checkAdded))
    const parts = earlier && (await inSlices(differences(partsOf(earlier, nowMs), partsOf(document, nowMs))))
    if (parts !== undefined) checkParts?.(settings, parts)
    await inSlices(feed.check(document, earlier))
    const { settings: next, text } = settingsAfter(settings, document, {
      ...change,
      ...(parts && { parts, partCount: parts.length }),
      ...(undoes !== undefined && { undoes }),
      ...((replaces || isWhole) && { replaces: true as const }),
    })
    return (await within(documents.replace(key, text, version))) ? next : undefined
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

/** Rejects with `TimeoutError` if work has not ended by a time of `performance.now()`. */
function beforeEnd<T>(work: Promise<T>, endMs: number): Promise<T> {
  const leftMs = Math.max(0, endMs - performance.now())
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError(Math.round(leftMs))), leftMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
