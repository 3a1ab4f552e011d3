import { MemoryCounter } from './hit-counter.js'
import { MINUTE, readWindow } from './numbers.js'
import type { ClientRateLimitInfo, Options, Store } from './types.js'

/**
 * Counts hits in the memory of this process. Each object counts separately. It has no timer, and keeps at
 * most 1,000,000 clients. If all are in use, a new client takes the place of one with few hits.
 *
 * @example
 * ```ts
 * import { MemoryStore, rateLimit } from 'headgate/express-rate-limit'
 *
 * const store = new MemoryStore()
 * const limiter = rateLimit({ windowMs: 60_000, limit: 100, store })
 * export const resetAll = () => store.resetAll() // such as between tests
 * ```
 */
export class MemoryStore implements Store {
  readonly localKeys = true
  /** The length of the window in milliseconds. It is a minute until `init` sets it. */
  windowMs = MINUTE
  #counter = new MemoryCounter(MINUTE)

  /** Sets the length of the window. Throws a `TypeError` for a wrong one. */
  init({ windowMs }: Pick<Options, 'windowMs'>): void {
    if (windowMs === this.windowMs) return
    this.#counter = new MemoryCounter(readWindow(windowMs))
    this.windowMs = windowMs
  }

  async get(key: string): Promise<ClientRateLimitInfo | undefined> {
    return this.#counter.get(key)
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const { totalHits, resetTime } = await this.#counter.increment(key)
    return { totalHits, resetTime }
  }

  async decrement(key: string): Promise<void> {
    return this.#counter.decrement(key)
  }

  async resetKey(key: string): Promise<void> {
    return this.#counter.resetKey(key)
  }

  /** Forgets all clients. */
  async resetAll(): Promise<void> {
    this.shutdown()
  }

  /** Forgets all clients. */
  shutdown(): void {
    void this.#counter.resetAll()
  }
}
