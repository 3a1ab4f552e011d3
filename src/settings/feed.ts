import type { ChangeNote, SettingsDocument } from '../limiter/settings-document.js'
import { throwProblems } from '../options/problems.js'
import { StoreError } from '../stores/store-error.js'
import { atOnce, type Steps } from '../util/slices.js'
import type { Misfit } from './misfits.js'
import { MAX_PROBLEMS } from './read-document.js'

/** A valid document, its version, and the change that made it. */
export interface Settled {
  readonly document: SettingsDocument
  readonly version: string
  /** The most recent change. Absent if changes are not recorded, as in a file. */
  readonly change?: ChangeNote | undefined
}

/** What a follower makes of a document. */
export interface Prepared {
  /** The parts of the document that do not fit. */
  readonly misfits: readonly Misfit[]
  bringIntoForce(settled: Settled): void
}

/** What follows a document. */
export interface Follower {
  /**
   * Prepares for a document. Later, `bringIntoForce` is called for all followers in one turn of the event
   * loop, so no charge sees a document that is only partly in force.
   */
  prepare(document: SettingsDocument): Steps<Prepared>
  /**
   * Called once for each outage of the source, and once for each invalid document. The last valid document
   * stays in force.
   */
  onFailure(error: StoreError | TypeError): void
}

/** Reads a version of a document. Throws a `TypeError` or a `StoreError` if it cannot come into force. */
export type ReadSettled = () => Steps<Omit<Settled, 'version'>>

/**
 * Passes one document on to its followers, and keeps its last valid version. A version is read only once,
 * whether it is valid or not. Reads are numbered, because the reply to an earlier one may arrive later.
 */
export class DocumentFeed {
  readonly #followers = new Set<Follower>()
  #settled: Settled | undefined
  #seenVersion: string | undefined
  #hasFailed = false
  #reads = 0
  #latestRead = 0

  /** The version that was offered last. */
  get version(): string | undefined {
    return this.#seenVersion
  }

  get hasFollowers(): boolean {
    return this.#followers.size > 0
  }

  /** Adds a follower. A document that is already known comes into force at once. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    const settled = this.#settled
    if (settled !== undefined) atOnce(follower.prepare(settled.document)).bringIntoForce(settled)
    return () => this.#followers.delete(follower)
  }

  /**
   * Throws a `TypeError` if parts of a document do not fit a follower. Parts of the earlier document are
   * ignored, so that they never stop another change.
   */
  *check(document: SettingsDocument, earlier: SettingsDocument | undefined): Steps<void> {
    const problems = new Set<string>()
    for (const follower of this.#followers) {
      const { misfits } = yield* follower.prepare(document)
      const before = earlier && misfits.length > 0 ? yield* follower.prepare(earlier) : undefined
      const earlierIds = new Set(before?.misfits.map(({ id }) => id))
      for (const { id, problem } of misfits) if (!earlierIds.has(id)) problems.add(problem)
    }
    const listed = Array.from(problems).slice(0, MAX_PROBLEMS)
    throwProblems(
      'settings',
      listed.map((problem) => new TypeError(problem)),
    )
  }

  /** Starts a read of the source, and returns its number. */
  startRead(): number {
    return ++this.#reads
  }

  /** Offers the version of the document that a read found. Does nothing if a later read found another one. */
  *offer(read: number, version: string, settle: ReadSettled): Steps<void> {
    if (!this.recover(read) || version === this.#seenVersion) return
    this.#seenVersion = version
    try {
      const settled = { ...(yield* settle()), version }
      const prepared = new Map<Follower, Prepared>()
      for (const follower of this.#followers)
        prepared.set(follower, yield* follower.prepare(settled.document))
      if (this.#seenVersion !== version) return
      this.#settled = settled
      for (const [follower, { bringIntoForce }] of prepared)
        if (this.#followers.has(follower)) bringIntoForce(settled)
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof StoreError)) throw error
      if (this.#seenVersion === version) for (const follower of this.#followers) follower.onFailure(error)
    }
  }

  /**
   * Records that a read has succeeded, so that the next failure is reported. Returns false if a later read
   * has already succeeded.
   */
  recover(read: number): boolean {
    if (read < this.#latestRead) return false
    this.#latestRead = read
    this.#hasFailed = false
    return true
  }

  /** Reports that the source could not be read. Repeated failures are ignored until it can be read again. */
  fail(read: number, error: StoreError | TypeError): void {
    if (read < this.#latestRead || this.#hasFailed) return
    this.#hasFailed = true
    for (const follower of this.#followers) follower.onFailure(error)
  }
}
