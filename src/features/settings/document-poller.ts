import type { Documents, StoredDocument } from '../../stores/documents.js'
import type { Store } from '../../stores/store.js'
import { asStoreError, StoreError } from '../../stores/store-error.js'
import { inBackground } from '../../util/background-timer.js'
import { timeout } from '../../util/timeout.js'
import { DocumentFeed, type Follower } from './feed.js'
import { readStored, shownChange } from './stored-settings.js'

/** The shortest time between two reads of a store's documents. */
const INTERVAL_MS = 1000
/** How long a read waits for the store's reply. After that, the next read is due. */
const TIMEOUT_MS = 5000

/** A store that keeps documents. */
export type DocumentStore = Pick<Store, 'name'> & { readonly documents: Documents }

/** Reads the documents in a store that the limiters of this process follow, all in one read. */
export interface DocumentPoller {
  /** Follows a document. Reads it at once, unless the store was read within the last second. */
  follow(key: string, follower: Follower): () => void
  /** Reads a document that this process has changed. Never rejects: the next read may succeed. */
  refresh(key: string): Promise<void>
  /**
   * Reads the documents if a second has passed since the last read. Charges call it on platforms where no
   * timer runs between requests, such as Workers. Absent elsewhere.
   */
  readonly pollIfDue: (() => void) | undefined
}

const pollers = new WeakMap<Documents, DocumentPoller>()

/** Returns the poller of a store, which all settings in it share. */
export function pollerOf(store: DocumentStore): DocumentPoller {
  const poller = pollers.get(store.documents) ?? createPoller(store)
  pollers.set(store.documents, poller)
  return poller
}

function createPoller({ name, documents }: DocumentStore): DocumentPoller {
  const feeds = new Map<string, DocumentFeed>()
  const within = timeout(TIMEOUT_MS)
  const hasTimers = canRunInBackground()
  let timer: unknown
  let polledAtMs = Number.NEGATIVE_INFINITY
  let isPolling = false

  async function poll(): Promise<void> {
    if (isPolling || feeds.size === 0) return
    isPolling = true
    polledAtMs = performance.now()
    await read([...feeds])
    isPolling = false
    schedule()
  }

  /** Reads documents, and passes them or the failure on to their followers. */
  async function read(followed: readonly (readonly [string, DocumentFeed])[]): Promise<void> {
    try {
      const found = await within(documents.read(followed.map(([key, { version }]) => ({ key, version }))))
      for (const [i, [, feed]] of followed.entries()) take(feed, found[i])
    } catch (error) {
      const failure = asStoreError(name, error)
      for (const [, feed] of followed) feed.fail(failure)
    }
  }

  function take(feed: DocumentFeed, found: StoredDocument | undefined): void {
    if (found !== undefined) feed.offer(found.version, () => settledIn(found.text ?? ''))
    else if (feed.version !== undefined)
      feed.fail(new StoreError(name, 'the settings document is missing, so the last one still applies'))
  }

  function schedule(): void {
    if (timer !== undefined || isPolling || !hasTimers || feeds.size === 0) return
    const waitMs = Math.max(0, polledAtMs + INTERVAL_MS - performance.now())
    timer = inBackground(
      setTimeout(() => {
        timer = undefined
        poll()
      }, waitMs),
    )
  }

  return {
    follow(key, follower) {
      const feed = feeds.get(key) ?? new DocumentFeed()
      feeds.set(key, feed)
      const unfollow = feed.follow(follower)
      schedule()
      return () => {
        unfollow()
        if (!feed.hasFollowers) feeds.delete(key)
      }
    },
    async refresh(key) {
      const feed = feeds.get(key)
      if (feed !== undefined) await read([[key, feed]])
    },
    pollIfDue: hasTimers
      ? undefined
      : () => {
          if (performance.now() - polledAtMs >= INTERVAL_MS) poll()
        },
  }
}

/** Returns the document in a stored text, and the most recent change to it. */
function settledIn(text: string) {
  const { document, changes } = readStored(text, Date.now())
  return { document, change: changes[0] && shownChange(changes[0]) }
}

/**
 * Returns whether timers run between requests. On Workers they do not, and `setTimeout` returns a number or
 * throws.
 */
function canRunInBackground(): boolean {
  try {
    const timer: unknown = setTimeout(() => {}, 0)
    clearTimeout(timer as number)
    return typeof timer === 'object'
  } catch {
    return false
  }
}
