import { setTimeout as pause } from 'node:timers/promises'

/** What `retry` tries again, how often and for how long. */
export interface RetryOptions {
  /** Whether the same attempt may succeed later: others were in the way, and nothing has been changed. */
  readonly isTemporary: (error: unknown) => boolean
  /** Default: 30. */
  readonly maxAttempts?: number
  /** No attempt begins later than this. Default: 2,000. */
  readonly maxElapsedMs?: number
  /** The longest delay before an attempt. Default: 20. */
  readonly maxDelayMs?: number
}

/**
 * Returns what `run` resolves with. Runs it again while it rejects with a temporary error, with exponential
 * backoff and full jitter, so that competitors spread out. Rejects with the last error.
 */
export async function retry<T>(
  run: () => Promise<T>,
  { isTemporary, maxAttempts = 30, maxElapsedMs = 2000, maxDelayMs = 20 }: RetryOptions,
): Promise<T> {
  const endMs = performance.now() + maxElapsedMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt === maxAttempts || performance.now() > endMs || !isTemporary(error)) throw error
    }
    await pause(Math.random() * Math.min(2 ** attempt, maxDelayMs))
  }
}
