import { markIdentities } from '../../keys/identity.js'
import { valueHash } from '../../keys/value-identity.js'
import { adjustmentsOf } from '../../limiter/adjust-limiter.js'
import type { Adjustments } from '../../limiter/adjustments.js'
import { chargeLimits } from '../../limiter/charge-limits.js'
import { limiterFrom } from '../../limiter/create-limiter.js'
import { chargedParts, type Decision } from '../../limiter/decision.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import type { LimiterOptions } from '../../limiter/options.js'
import { type LimiterSettings, readLimiterOptions } from '../../limiter/read-options.js'
import { request } from '../../pipe/pipe.js'
import { pipeTo } from '../../pipe/store-end.js'
import { fixedWindow } from '../../policies/fixed-window.js'
import { isMemoryStore } from '../../stores/memory/contract.js'
import { memoryStore } from '../../stores/memory/memory-store.js'
import type { Charge } from '../../stores/operation.js'
import type { Store as HeadgateStore } from '../../stores/store.js'
import { messageOf } from '../../stores/store-error.js'
import { type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import type { ClientRateLimitInfo, IncrementResponse, Store } from './types.js'

/** The most hits that are counted in one window: all of them, those above the limit included. */
const MAX_HITS = 2 ** 31 - 1

/** A hit, with the decision that refunds it. */
export interface Hit extends IncrementResponse {
  readonly decision: Decision
}

/** A limiter that counts hits. Its charges are synchronous in memory. */
interface Counting {
  readonly limiter: MiddlewareLimiter<string>
  readonly adjustments: Adjustments<string>
  readonly charge: (key: string) => MaybePromise<Decision>
}

/**
 * Counts the hits of each key in a headgate store, in a fixed window from the key's first hit. In memory,
 * `increment` is synchronous. A remote store is protected by a deadline and a circuit breaker. If it fails,
 * `increment` rejects with a `StoreError`.
 */
export class HitCounter implements Store {
  /**
   * Whether the counts of this object are its own. True, because names keep the limiters of one store apart.
   */
  readonly localKeys = true
  readonly #windowMs: number
  readonly #name: string | undefined
  #store: HeadgateStore
  #counting: Counting

  /**
   * Creates a counter in a store. Without a name, throws a `TypeError` if the store already serves a limiter
   * that has none.
   */
  constructor(store: HeadgateStore, windowMs: number, name?: string) {
    this.#windowMs = windowMs
    this.#name = name
    this.#store = store
    this.#counting = countingLimiter(store, windowMs, name)
  }

  /** Counts in another store from now on. Refunds of earlier hits go to the store that counted them. */
  protected countIn(store: HeadgateStore): void {
    this.#store = store
    this.#counting = countingLimiter(store, this.#windowMs, this.#name)
  }

  increment(key: string): MaybePromise<Hit> {
    return thenMaybe(this.#counting.charge(String(key)), hitOf)
  }

  /** Refunds a hit in the window that counted it. */
  refund({ decision }: Hit): Promise<void> {
    return this.#counting.adjustments.refund(decision)
  }

  async decrement(key: string): Promise<void> {
    const [part] = chargedParts(await this.#counting.limiter.peek(String(key))) ?? []
    if (part === undefined) return
    const store = pipeTo(this.#store)
    const { atMs } = await request<Charge>(store, { type: 'charge', parts: [part] }) // a peek: the store's time
    await request(store, { ...part, type: 'refund', cost: 1, takenAtMs: atMs })
  }

  async get(key: string): Promise<ClientRateLimitInfo | undefined> {
    const { totalHits, resetTime } = hitOf(await this.#counting.limiter.peek(String(key)))
    return totalHits === 0 ? undefined : { totalHits, resetTime }
  }

  async resetKey(key: string): Promise<void> {
    await this.#counting.adjustments.forget(String(key))
  }

  shutdown(): Promise<void> {
    return this.#counting.limiter.close()
  }
}

/** Counts in its own memory, which no other limiter shares. */
export class MemoryCounter extends HitCounter {
  constructor(windowMs: number) {
    super(ownMemory(), windowMs)
  }

  async resetAll(): Promise<void> {
    this.countIn(ownMemory())
  }

  override async shutdown(): Promise<void> {
    return this.resetAll()
  }
}

/** Creates a store in memory, by the clock that mocks of `Date` set. */
function ownMemory(): HeadgateStore {
  return memoryStore({ clock: () => Date.now() })
}

function hitOf(decision: Decision): Hit {
  const resetTime = new Date(Date.now() + decision.resetAfterMs)
  return { totalHits: MAX_HITS - decision.remaining, resetTime, decision }
}

function countingLimiter(store: HeadgateStore, windowMs: number, name: string | undefined): Counting {
  const policy = fixedWindow({ limit: MAX_HITS, window: `${windowMs}ms`, startsAt: 'first-request' })
  const key = markIdentities(isMemoryStore(store) ? asIs : valueHash(undefined))
  const options = {
    policy,
    key,
    store,
    denyCache: false,
    onStoreError: rethrow,
    ...(name && { name }),
  } as const
  const counting = limiterFrom<string>('rateLimit', settingsOf(options))
  const { limiter, report } = counting
  limiter.events.on('storeError', () => {}) // each charge rejects with its error
  return {
    limiter,
    adjustments: adjustmentsOf(counting),
    charge: (key) => chargeLimits(counting, key, undefined, report),
  }
}

/** Reads a limiter's options. Errors about its name say `identifier`, which is where it comes from. */
function settingsOf(options: LimiterOptions<string>): LimiterSettings {
  try {
    return readLimiterOptions('rateLimit', options)
  } catch (error) {
    throw new TypeError(
      messageOf(error)
        .replace(/\ba name\b/g, 'an identifier')
        .replace(/\bname\b/g, 'identifier'),
    )
  }
}

/** The memory store hashes keys itself, and keeps none. */
function asIs(key: string): string {
  return key
}

function rethrow(error: Error): never {
  throw error
}
