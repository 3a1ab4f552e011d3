import { StoreError } from '../../stores/store-error.js'
import { pause } from '../../util/defer.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { inSlices } from '../../util/slices.js'
import { TimeoutError } from '../../util/timeout.js'
import { wrongKind } from '../../util/validate.js'
import { isFunction } from '../../util/values.js'
import { addedSteps } from './check-added.js'
import type { GivenDocument, SettingsDocument } from './document.js'
import type { DocumentPoller, DocumentStore, Written } from './document-poller.js'
import type { StoredChange } from './history.js'
import { type LatestSettings, latestSteps } from './latest-document.js'
import { checkLength, documentSteps } from './read-document.js'
import { jsonSteps, readChange, type StoredSettings, settingsAfter, textOf } from './stored-settings.js'
import { unwatchedCopy, watchedCopy } from './watched-copy.js'

/** How long a change is retried while the store fails, or others change the document. */
const MAX_ELAPSED_MS = 10_000
/** How long an attempt waits for a reply of the store, and for an edit. */
const TIMEOUT_MS = 5000
const MAX_DELAY_MS = 200

type Poller = Pick<DocumentPoller, 'copyOf' | 'check'>
type Edit = (document: SettingsDocument) => MaybePromise<GivenDocument>

/** What an edit returned, as JSON, and whether it is a whole document, made without reading the last one. */
interface Edited {
  readonly value: unknown
  readonly isWhole: boolean
}

/** The changes in progress of one document. They run one after another, so they never conflict. */
interface Queue {
  last: Promise<unknown>
  /** Whether the last edit that began has not ended in time so far. */
  isEditing: boolean
}

/** This process's changes in progress, by store and key. */
const pending = new WeakMap<object, Map<string, Queue>>()

/**
 * Changes a document, once the changes that this process began earlier are done. `poller` knows the document
 * of this process, and the limiters that it must fit. Rejects after ten seconds, including the time that
 * earlier changes take, and with a `TypeError` if an edit takes five.
 */
export async function changeDocument(
  store: DocumentStore,
  key: string,
  edit: Edit,
  origin: unknown,
  poller: Poller,
): Promise<Written> {
  if (!isFunction(edit))
    throw wrongKind('settings', 'edit', 'a function', edit, 'Write (document) => document.')
  const change = readChange(origin, Date.now(), crypto.randomUUID())
  const endMs = performance.now() + MAX_ELAPSED_MS
  const ofStore = pending.get(store.documents) ?? new Map<string, Queue>()
  pending.set(store.documents, ofStore)
  const queue = ofStore.get(key) ?? { last: Promise.resolve(), isEditing: false }
  ofStore.set(key, queue)
  const earlier = queue.last
  async function editInTime({ document, damage }: LatestSettings): Promise<Edited> {
    queue.isEditing = true
    const given =
      damage === undefined ? watchedCopy(await inSlices(jsonSteps(document)), edit) : unwatchedCopy(document)
    const edited = (async () => edit(given.copy))()
    const value = await beforeEnd(edited, replyEndMs(endMs)).catch((error) => {
      if (error instanceof TimeoutError) throw editError(key)
      queue.isEditing = false
      throw error
    })
    queue.isEditing = false
    checkLength(value)
    return { value: await inSlices(jsonSteps(value)), isWhole: !given.isRead() }
  }
  const swapped = beforeEnd(earlier, endMs).then(() => {
    if (performance.now() >= endMs) throw new TimeoutError(MAX_ELAPSED_MS)
    return swapUntilMade(store, key, editInTime, change, poller, endMs)
  })
  const settled = Promise.allSettled([earlier, swapped])
  queue.last = settled
  try {
    return await swapped
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    if (queue.isEditing) throw editError(key)
    throw new StoreError(store.name, `earlier changes to ${key} did not end within ${MAX_ELAPSED_MS} ms`)
  } finally {
    settled.then(() => queue.last === settled && ofStore.delete(key))
  }
}

/**
 * Reads the document, edits it, and writes it if no other process has changed it since. Retries until that
 * succeeds. If the outcome of a write is unknown, the next read shows whether the change was made.
 */
async function swapUntilMade(
  { name, documents }: DocumentStore,
  key: string,
  edit: (latest: LatestSettings) => Promise<Edited>,
  change: StoredChange,
  poller: Poller,
  endMs: number,
): Promise<Written> {
  const within = <T>(work: Promise<T>) => beforeEnd(work, replyEndMs(endMs))
  let failure = new StoreError(name, `other processes changed ${key} during every attempt`)

  async function attempt(): Promise<Written | undefined> {
    const localCopy = poller.copyOf(key)
    const [found] = await within(documents.read([{ key, version: localCopy?.version }]))
    const latest = await inSlices(latestSteps(found, localCopy, Date.now()))
    if (latest.changes.some(({ id }) => id === change.id)) return withText(latest as StoredSettings)
    const { value, isWhole } = await edit(latest)
    const earlier = latest.damage ? undefined : latest.document
    const document = await inSlices(documentSteps(value, Date.now(), earlier))
    await inSlices(addedSteps(value as GivenDocument, earlier, isWhole))
    await inSlices(poller.check(key, document, earlier))
    const mark = latest.replaces || isWhole ? { replaces: true as const } : {}
    const next = withText(settingsAfter(latest, document, { ...change, ...mark }))
    const isWritten = await within(documents.replace(key, next.text, found?.version))
    return isWritten ? next : undefined
  }

  for (let attempts = 1; ; attempts++) {
    try {
      const made = await attempt()
      if (made !== undefined) return made
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof TimeoutError)) throw error
      if (error instanceof StoreError && error.replied) throw error
      failure = error instanceof StoreError ? error : new StoreError(name, error.message, { cause: error })
    }
    await pause(Math.random() * Math.min(2 ** attempts, MAX_DELAY_MS))
    if (performance.now() >= endMs) throw failure
  }
}

/** Returns when to give up on a reply of the store, or on an edit. */
const replyEndMs = (endMs: number): number => Math.min(endMs, performance.now() + TIMEOUT_MS)

function editError(key: string): TypeError {
  const must = `edit must end within ${TIMEOUT_MS} ms, and must not wait for another change of ${key}`
  return new TypeError(`settings: ${must}. Load what it needs before you call change.`)
}

const withText = (settings: StoredSettings): Written => ({ settings, text: textOf(settings) })

/** Rejects with `TimeoutError` if work has not ended by a time of `performance.now()`. */
function beforeEnd<T>(work: Promise<T>, endMs: number): Promise<T> {
  const startedAtMs = performance.now()
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new TimeoutError(Math.round(endMs - startedAtMs))),
      Math.max(0, endMs - startedAtMs),
    )
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
