import type { StoreError } from '../../stores/store-error.js'
import type { SettingsChange, SettingsDocument } from './document.js'

/** A valid document, and where it comes from. */
export interface Settled {
  readonly document: SettingsDocument
  readonly version: string
  /** The last change of it; absent if none is recorded, as in a file. */
  readonly change?: SettingsChange | undefined
}

/** What follows a document. */
export interface Follower {
  /** Called with the document now, if it is known, and each time that it has changed. */
  onDocument(settled: Settled): void
  /**
   * Called once for each outage of the source, and for each document that is not valid. The last document
   * stays in force.
   */
  onFailure(error: StoreError | TypeError): void
}

/**
 * Passes one document on to its followers. It keeps the last valid one. A version that was seen is not read
 * again, whether it was valid or not.
 */
export class DocumentFeed {
  readonly #followers = new Set<Follower>()
  #settled: Settled | undefined
  #seenVersion: string | undefined
  #hasFailed = false

  /** The version that was seen last. */
  get version(): string | undefined {
    return this.#seenVersion
  }

  get hasFollowers(): boolean {
    return this.#followers.size > 0
  }

  /** Returns the function that ends it. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    if (this.#settled !== undefined) follower.onDocument(this.#settled)
    return () => this.#followers.delete(follower)
  }

  /** Takes a version of the document. `read` throws a `TypeError` if it is not valid. */
  offer(version: string, read: () => Omit<Settled, 'version'>): void {
    this.#hasFailed = false
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

  /** Reports that the source could not be read, once until it can. */
  fail(error: StoreError | TypeError): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    for (const follower of this.#followers) follower.onFailure(error)
  }
}
