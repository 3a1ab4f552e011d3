import { randomText, sha256 } from '../platform.js'
import type { Documents } from '../stores/documents.js'
import { boundedCalls } from '../stores/shared/bounded-calls.js'
import type { StoreError } from '../stores/store-error.js'
import type { FairShares } from './fair-shares.js'
import { ShareSlots } from './share-slots.js'
import { largestUses } from './shares-document.js'
import type { Tenant } from './tenant.js'
import { type ProcessUse, TenantParts } from './tenant-parts.js'

/** How often to call `round`. */
export const ROUND_MS = 1000

/** What was read longer ago than this no longer counts. */
const STALE_MS = 3000

/** The key of all new tenants. Those of others are longer. */
const NEW_KEY = 'new'
const KEY_LENGTH = 12

export interface SharedSharesOptions {
  /** The name of the store, for messages. */
  readonly store: string
  readonly documents: Documents
  /** What the keys of the documents start with, the same in all processes. */
  readonly key: string
  readonly shares: FairShares
  /** Returns how many requests may run at once in this process now. */
  readonly limit: () => number
  /** Returns the time of the monotonic clock that `shares` is called with. */
  readonly now: () => number
}

/** What this process knows of a tenant while it is active. */
interface Known {
  readonly key: string
  /** Places on average, half of it from the last round. */
  places: number
}

/**
 * Shares of tenants over several processes. Every second, each process publishes how many places its tenants
 * use, in a document in the store, and reads the documents of the others. By these figures, the weight of a
 * tenant is divided among the processes (`TenantParts`). No request waits for the store. If the store fails,
 * hangs or has lost the documents, each process is left with its own shares after 3 s, as without a store.
 *
 * **The bound.** Between two publications, a process does not know what a tenant takes elsewhere. Meanwhile
 * a tenant has at most 2.5 times its share in all processes together: what it had before, and 1.5 times an
 * even part of each process in which it begins. (In our tests no tenant had more than 1.7 times its share.)
 * After two rounds, all processes have read about it. As in one process, it may also have saved 5 s of its
 * share. Each of up to 64 processes publishes its largest 200 tenants. All others have a share in each
 * process.
 */
export class SharedShares {
  readonly #options: SharedSharesOptions
  readonly #id = randomText(9)
  readonly #slots: ShareSlots
  readonly #calls
  readonly #known = new WeakMap<Tenant, Known>()
  #round = 0
  #roundAtMs: number
  #readAtMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(options: SharedSharesOptions) {
    this.#options = options
    this.#slots = new ShareSlots(options.documents, options.key)
    this.#calls = boundedCalls(options.store)
    this.#roundAtMs = options.now()
  }

  /** Why processes cannot share their tenants; `undefined` if they can. */
  error(): StoreError | undefined {
    return this.#calls.error()
  }

  /**
   * Publishes the figures of this process, and reads those of the others. Call it every second. Never
   * rejects.
   */
  async round(): Promise<void> {
    const { limit, now } = this.#options
    const own = { limit: limit(), uses: largestUses(this.#takeUses(now())) }
    await this.#calls.attempt(async () => {
      await this.#slots.read(now)
      this.#readAtMs = now()
      if (!this.#isClosed) await this.#slots.write({ id: this.#id, round: this.#round++, ...own }, now())
    })
    this.#weigh(own)
  }

  /** Tells the others that this process has left. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#calls.attempt(async () => {}) // a round may be under way
    await this.#calls.attempt(async () => {
      await this.#slots.read(this.#options.now)
      await this.#slots.leave(this.#id)
    })
  }

  /** Returns the places that each active tenant uses. */
  #takeUses(nowMs: number): readonly (readonly [string, number])[] {
    const { shares } = this.#options
    const passedMs = Math.max(1, nowMs - this.#roundAtMs)
    this.#roundAtMs = nowMs
    return Array.from(shares.active(), (tenant) => {
      const known = this.#knownOf(tenant)
      known.places = (known.places + shares.takeUse(tenant, nowMs) / passedMs) / 2
      return [known.key, known.places] as const
    })
  }

  #weigh(own: ProcessUse): void {
    const { shares, now } = this.#options
    const nowMs = now()
    const isKnown = nowMs - this.#readAtMs < STALE_MS
    const parts = new TenantParts(own, isKnown ? this.#slots.others(this.#id, nowMs) : [])
    for (const tenant of shares.active()) {
      const before = tenant.weight / tenant.givenWeight
      shares.setFactor(tenant, parts.factorOf(this.#knownOf(tenant).key, before))
    }
  }

  #knownOf(tenant: Tenant): Known {
    const found = this.#known.get(tenant)
    if (found !== undefined) return found
    const isNew = this.#options.shares.areNew(tenant)
    const key = isNew ? NEW_KEY : sha256(tenant.id).slice(0, KEY_LENGTH)
    const known = { key, places: 0 }
    this.#known.set(tenant, known)
    return known
  }
}
