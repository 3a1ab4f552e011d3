import { memoryStore } from '../../stores/memory/memory-store.js'
import { hitCounter } from './hit-counter.js'
import type { ClientRateLimitInfo, Options, Store } from './types.js'
import { MINUTE } from './units.js'

/** The window until `init` sets another one. */
const DEFAULT_WINDOW_MS = MINUTE

/**
 * Counts hits in the memory of this process, those of each object apart: the default store. It needs no
 * timer, and keeps at most 1,000,000 clients; beyond that, those whose windows end next make room.
 */
export class MemoryStore implements Store {
  readonly localKeys = true
  windowMs = DEFAULT_WINDOW_MS
  #counter = hitCounter(memoryStore(), { windowMs: DEFAULT_WINDOW_MS })

  /** Takes the length of the window. Throws a `TypeError` where it is no number of milliseconds. */
  init({ windowMs }: Pick<Options, 'windowMs'>): void {
    if (windowMs === this.windowMs) return
    this.windowMs = windowMs
    this.#counter = hitCounter(memoryStore(), { windowMs })
  }

  async get(key: string): Promise<ClientRateLimitInfo | undefined> {
    return this.#counter.get(key)
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    return this.#counter.increment(key)
  }

  async decrement(key: string): Promise<void> {
    return this.#counter.decrement(key)
  }

  async resetKey(key: string): Promise<void> {
    return this.#counter.resetKey(key)
  }

  async resetAll(): Promise<void> {
    this.#counter = hitCounter(memoryStore(), { windowMs: this.windowMs })
  }

  /** Forgets all clients. */
  shutdown(): void {
    void this.resetAll()
  }
}
