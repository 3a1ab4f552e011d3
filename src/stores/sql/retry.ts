import { setTimeout as pause } from 'node:timers/promises'

/** How often work is tried that others are in the way of. */
const MAX_ATTEMPTS = 30
/** No attempt begins later than this: who waits for locks has waited long enough. */
const MAX_MS = 2000
/** The most that is waited before another attempt, so that those who were in each other's way come apart. */
const MAX_JITTER_MS = 20

/**
 * Runs work again where what it failed with is temporary, a bounded number of times and for a bounded time. Rejects with what it
 * failed with last.
 */
export async function attempts<T>(
  run: () => Promise<T>,
  isTemporary: (error: unknown) => boolean,
): Promise<T> {
  const endMs = performance.now() + MAX_MS
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || performance.now() > endMs || !isTemporary(error)) throw error
    }
    await pause(Math.random() * Math.min(2 ** attempt, MAX_JITTER_MS))
  }
}
