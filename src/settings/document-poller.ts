import { isIsolate } from '../platform.js'
import type { Documents, StoredDocument } from '../stores/documents.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { inBackground } from '../util/background-timer.js'
import { RecentMap } from '../util/recent-map.js'
import { inSlices } from '../util/slices.js'
import { timeout } from '../util/timeout.js'
import { DocumentFeed, type Follower, type ReadSettled } from './feed.js'
import { type Latest, type LocalCopy, latestSteps, missingError } from './latest-document.js'
import { noteOf, type StoredSettings } from './stored-settings.js'

/** The shortest time between two reads of a store's documents. */
const INTERVAL_MS = 1000
/** How long a read waits for the store's reply. On isolates, a charge awaits it, for only `INTERVAL_MS`. */
const TIMEOUT_MS = 5000
/** The most documents without followers that are remembered. */
const MAX_OTHERS = 100

/** A document in a store, as this process knows it. */
export interface SharedDocument {
  readonly key: string
  readonly feed: DocumentFeed
  /** The last valid document that this process followed or changed. */
  copy?: LocalCopy
  /** Resolves when the changes that this process has begun are done. They run one after another. */
  changed: Promise<unknown>
  /** Whether the last edit is still running, or did not end in time. */
  isEditing: boolean
}

/** A store that keeps documents. */
export type DocumentStore = Pick<Store, 'name'> & { readonly documents: Documents }

const pollers = new WeakMap<Documents, DocumentPoller>()

/** Returns the poller of a store, which all settings in it share. */
export function pollerOf(store: DocumentStore): DocumentPoller {
  const poller = pollers.get(store.documents) ?? new DocumentPoller(store)
  pollers.set(store.documents, poller)
  return poller
}

/** Reads the documents that the limiters of this process follow in one store, all in one read. */
export class DocumentPoller {
  readonly store: DocumentStore
  /**
   * Reads the documents if a second has passed since the last read. Only on isolates, where no timer runs
   * between requests. There, each charge calls it and awaits the promise, because work that outlives its
   * request may never end.
   */
  readonly pollIfDue: (() => Promise<void> | undefined) | undefined
  readonly #followed = new Map<string, SharedDocument>()
  readonly #others = new RecentMap<SharedDocument>(MAX_OTHERS)
  readonly #within = timeout(isIsolate() ? INTERVAL_MS : TIMEOUT_MS)
  #timer: { readonly startedBy: typeof setTimeout } | undefined
  #polledAtMs = Number.NEGATIVE_INFINITY
  #isPolling = false

  constructor(store: DocumentStore) {
    this.store = store
    if (!isIsolate()) return
    this.pollIfDue = () => {
      if (performance.now() - this.#polledAtMs < INTERVAL_MS) return undefined
      this.#isPolling = false // the request that polled last may have ended first
      return this.#poll()
    }
  }

  documentOf(key: string): SharedDocument {
    const shared = this.#followed.get(key) ?? this.#others.get(key)
    if (shared !== undefined) return shared
    const added = { key, feed: new DocumentFeed(), changed: Promise.resolve(), isEditing: false }
    this.#others.set(key, added)
    return added
  }

  /** Follows a document. Reads it at once, unless the store was read within the last second. */
  follow(key: string, follower: Follower): () => void {
    const shared = this.documentOf(key)
    this.#followed.set(key, shared)
    const unfollow = shared.feed.follow(follower)
    this.#schedule()
    return () => {
      unfollow()
      if (shared.feed.hasFollowers) return
      this.#followed.delete(key)
      this.#others.set(key, shared)
    }
  }

  /**
   * Reads the document that a change starts from, and the version that the store holds. `within` limits the
   * time. Rejects with a `StoreError`.
   */
  async latest(
    { key, copy }: SharedDocument,
    within = this.#within,
  ): Promise<Latest & { readonly version: string | undefined }> {
    const { name, documents } = this.store
    try {
      const [found] = await within(documents.read([{ key, version: copy?.version }]))
      const latest = await inSlices(latestSteps(name, found, copy, Date.now()))
      return { ...latest, version: found?.version }
    } catch (error) {
      throw asStoreError(name, error)
    }
  }

  /**
   * Reads a document that this process has changed, so that its limiters follow it. Never rejects: the next
   * read may succeed.
   */
  async refresh(shared: SharedDocument, settings: StoredSettings): Promise<void> {
    const [change] = settings.changes
    // If a poll found the change first, its copy stays: it has the version by which a loss is recognized.
    const isFound = shared.copy?.settings.changes.some(({ id }) => id === change?.id)
    if (!isFound) shared.copy = { settings }
    this.#schedule()
    if (shared.feed.hasFollowers) await this.#read([shared])
  }

  async #poll(): Promise<void> {
    if (this.#isPolling || this.#followed.size === 0) return
    this.#isPolling = true
    this.#polledAtMs = performance.now()
    await this.#read([...this.#followed.values()])
    this.#isPolling = false
    this.#schedule()
  }

  /** Reads documents, and passes them or the failure on to their followers. */
  async #read(toRead: readonly SharedDocument[]): Promise<void> {
    const { name, documents } = this.store
    const reads = toRead.map(({ feed }) => feed.startRead())
    try {
      const requests = toRead.map(({ key, feed }) => ({ key, version: feed.version }))
      const found = await this.#within(documents.read(requests))
      for (const [i, shared] of toRead.entries()) {
        const { feed } = shared
        const [read, document] = [reads[i] as number, found[i]]
        if (document !== undefined)
          await inSlices(feed.offer(read, document.version, () => this.#settle(shared, document)))
        else if (feed.version !== undefined) feed.fail(read, missingError(name))
      }
    } catch (error) {
      const failure = asStoreError(name, error)
      for (const [i, { feed }] of toRead.entries()) feed.fail(reads[i] as number, failure)
    }
  }

  /** Reads a stored document and the most recent change to it. Throws if it must not come into force. */
  *#settle(shared: SharedDocument, found: StoredDocument): ReturnType<ReadSettled> {
    const { copy } = shared
    const { settings, problem, foreign } = yield* latestSteps(this.store.name, found, copy, Date.now())
    if (copy !== undefined && foreign !== undefined) shared.copy = { ...copy, foreign }
    if (problem !== undefined) throw problem
    shared.copy = { settings, version: found.version }
    const [change] = settings.changes
    return { document: settings.document, change: change && noteOf(change) }
  }

  #schedule(): void {
    // A timer may never fire if a test has faked or restored the timers since it was started.
    if (
      this.#timer?.startedBy === setTimeout ||
      this.#isPolling ||
      this.pollIfDue ||
      this.#followed.size === 0
    )
      return
    const waitMs = Math.max(0, this.#polledAtMs + INTERVAL_MS - performance.now())
    const timer = { startedBy: setTimeout }
    this.#timer = timer
    const pollNow = () => {
      if (this.#timer !== timer) return
      this.#timer = undefined
      this.#poll()
    }
    inBackground(setTimeout(pollNow, Math.min(waitMs, INTERVAL_MS)))
  }
}
