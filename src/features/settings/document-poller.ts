import type { Documents, StoredDocument } from '../../stores/documents.js'
import type { Store } from '../../stores/store.js'
import { asStoreError } from '../../stores/store-error.js'
import { inBackground } from '../../util/background-timer.js'
import { RecentMap } from '../../util/recent-map.js'
import { inSlices, type Steps } from '../../util/slices.js'
import { timeout } from '../../util/timeout.js'
import type { SettingsDocument } from './document.js'
import { DocumentFeed, type Follower, type ReadSettled } from './feed.js'
import { checkNotLost, damagedError, type LocalCopy, missingError } from './latest-document.js'
import { type StoredSettings, shownChange, storedSteps } from './stored-settings.js'

/** The shortest time between two reads of a store's documents. */
const INTERVAL_MS = 1000
/** How long a read waits for the store's reply. After that, the next read is due. */
const TIMEOUT_MS = 5000

/** How many documents without followers are remembered at most. */
const MAX_OTHERS = 100

/** A document that this process has written, and its text. */
export interface Written {
  readonly settings: StoredSettings
  readonly text: string
}

/** A store that keeps documents. */
export type DocumentStore = Pick<Store, 'name'> & { readonly documents: Documents }

/** Reads the documents in a store that the limiters of this process follow, all in one read. */
export interface DocumentPoller {
  /** Follows a document. Reads it at once, unless the store was read within the last second. */
  follow(key: string, follower: Follower): () => void
  /** Returns the document that this process followed or changed last. */
  copyOf(key: string): LocalCopy | undefined
  /**
   * Throws a `TypeError` if a new document does not fit the limiters of this process that follow it. What
   * the earlier document has as well is ignored.
   */
  check(key: string, document: SettingsDocument, earlier: SettingsDocument | undefined): Steps<void>
  /**
   * Reads a document that this process has changed, so that its limiters follow it. Never rejects: the next
   * read may succeed.
   */
  refresh(key: string, written: Written): Promise<void>
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
  /** The last valid documents: those that are followed, and others that this process has changed. */
  const followed = new Map<string, LocalCopy>()
  const others = new RecentMap<LocalCopy>(MAX_OTHERS)
  const within = timeout(TIMEOUT_MS)
  const hasTimers = canRunInBackground()
  let timer: { readonly startedBy: typeof setTimeout } | undefined
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
  async function read(
    toRead: readonly (readonly [string, DocumentFeed])[],
    written?: Written,
  ): Promise<void> {
    const reads = toRead.map(([, feed]) => feed.startRead())
    try {
      const found = await within(documents.read(toRead.map(([key, { version }]) => ({ key, version }))))
      for (const [i, [key, feed]] of toRead.entries())
        await inSlices(take(key, feed, reads[i] as number, found[i], written))
    } catch (error) {
      const failure = asStoreError(name, error)
      for (const [i, [, feed]] of toRead.entries()) feed.fail(reads[i] as number, failure)
    }
  }

  function* take(
    key: string,
    feed: DocumentFeed,
    number: number,
    found: StoredDocument | undefined,
    written?: Written,
  ): Steps<void> {
    if (found !== undefined) yield* feed.offer(number, found.version, () => settle(key, found, written))
    else if (feed.version !== undefined) feed.fail(number, missingError(name))
  }

  /** Reads the document in a stored text, and the most recent change to it. */
  function* settle(
    key: string,
    { version, text = '' }: StoredDocument,
    written?: Written,
  ): ReturnType<ReadSettled> {
    const localCopy = copyOf(key)
    try {
      const settings =
        written?.text === text
          ? written.settings
          : yield* storedSteps(text, Date.now(), localCopy?.settings.document)
      if (localCopy !== undefined) {
        remember(key, { ...localCopy, foreign: settings }) // unless it is not lost
        checkNotLost(name, settings, localCopy)
      }
      remember(key, { settings, version })
      const [change] = settings.changes
      return { document: settings.document, change: change && shownChange(change) }
    } catch (error) {
      throw error instanceof TypeError && localCopy !== undefined ? damagedError(error) : error
    }
  }

  const copyOf = (key: string) => followed.get(key) ?? others.get(key)

  function remember(key: string, localCopy: LocalCopy): void {
    if (feeds.has(key)) followed.set(key, localCopy)
    else others.set(key, localCopy)
  }

  function schedule(): void {
    // A timer may never fire if a test has faked or restored the timers since it was started.
    if (timer?.startedBy === setTimeout || isPolling || !hasTimers || feeds.size === 0) return
    const waitMs = Math.max(0, polledAtMs + INTERVAL_MS - performance.now())
    const started = { startedBy: setTimeout }
    timer = started
    const pollNow = () => {
      if (timer !== started) return
      timer = undefined
      poll()
    }
    inBackground(setTimeout(pollNow, Math.min(waitMs, INTERVAL_MS)))
  }

  return {
    follow(key, follower) {
      const feed = feeds.get(key) ?? new DocumentFeed()
      feeds.set(key, feed)
      const unfollow = feed.follow(follower)
      schedule()
      return () => {
        unfollow()
        if (feed.hasFollowers) return
        const localCopy = copyOf(key)
        feeds.delete(key)
        followed.delete(key)
        if (localCopy !== undefined) others.set(key, localCopy)
      }
    },
    copyOf,
    *check(key, document, earlier) {
      yield* feeds.get(key)?.check(document, earlier) ?? []
    },
    async refresh(key, written) {
      remember(key, { settings: written.settings })
      schedule()
      const feed = feeds.get(key)
      if (feed !== undefined) await read([[key, feed]], written)
    },
    pollIfDue: hasTimers
      ? undefined
      : () => {
          if (performance.now() - polledAtMs >= INTERVAL_MS) poll()
        },
  }
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
