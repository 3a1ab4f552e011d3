import type { StoreError } from '../../stores/store-error.js'
import type { SettingsChange, SettingsDocument } from './document.js'

/** A valid document, its version, and the change that made it. */
export interface Settled {
  readonly document: SettingsDocument
  readonly version: string
  /** The most recent change. Absent if changes are not recorded, as in a file. */
  readonly change?: SettingsChange | undefined
}

/** What follows a document. */
export interface Follower {
  /** Called at once if a document is already known, and then each time that it has changed. */
  onDocument(settled: Settled): void
  /**
   * Called once for each outage of the source, and once for each invalid document. The last valid document
   * stays in force.
   */
  onFailure(error: StoreError | TypeError): void
}

/**
 * Passes one document on to its followers, and keeps its last valid version. A version is read only once,
 * whether it is valid or not.
 */
export class DocumentFeed {
  readonly #followers = new Set<Follower>()
  #settled: Settled | undefined
  #seenVersion: string | undefined
  #hasFailed = false

  /** The version that was offered last. */
  get version(): string | undefined {
    return this.#seenVersion
  }

  get hasFollowers(): boolean {
    return this.#followers.size > 0
  }

  /** Adds a follower. Returns a function that removes it. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    if (this.#settled !== undefined) follower.onDocument(this.#settled)
    return () => this.#followers.delete(follower)
  }

  /** Offers a version of the document. `read` throws a `TypeError` if it is invalid. */
  offer(version: string, read: () => Omit<Settled, 'version'>): void {
    this.recover()
    if (version === this.#seenVersion) return
    this.#seenVersion = version
    try {
      this.#settled = { ...read(), version }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      for (const follower of this.#followers) follower.onFailure(error)
      return
    }
    for (const follower of this.#followers) follower.onDocument(this.#settled)
  }

  /** Notes that the source can be read, so that its next failure is reported. */
  recover(): void {
    this.#hasFailed = false
  }

  /** Reports that the source could not be read. Repeated failures are ignored until it can be read again. */
  fail(error: StoreError | TypeError): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    for (const follower of this.#followers) follower.onFailure(error)
  }
}
