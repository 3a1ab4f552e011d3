import { pause } from './defer.js'

/** An attempt that ends later than this is the last, unless it made progress. */
const MAX_ELAPSED_MS = 2000
/** After this many attempts, one that ends late is the last, even if it made progress. */
const MAX_LATE_ATTEMPTS = 30
const MAX_DELAY_MS = 20

export interface RetryOptions<T> {
  /** Whether the same attempt may succeed later, and nothing has been changed. Default: never. */
  readonly isTemporary?: ((error: unknown) => boolean) | undefined
  /**
   * Whether a temporary error shows that the next attempt gets further: it is made even after two seconds.
   * Default: never.
   */
  readonly isProgress?: (error: unknown) => boolean
  /** Whether what an attempt resolved with is the result. Default: always. */
  readonly isFinal?: (value: T) => boolean
  /** Default: no limit, only those two seconds. */
  readonly maxAttempts?: number
}

/**
 * Returns what `run` resolves with. Runs it again while that is not final, or while it rejects with a
 * temporary error, with exponential backoff and full jitter to spread competitors out. The last attempt
 * decides, whatever its outcome.
 */
export async function retry<T>(
  run: () => Promise<T>,
  {
    isTemporary = () => false,
    isProgress = () => false,
    isFinal = () => true,
    maxAttempts = Number.POSITIVE_INFINITY,
  }: RetryOptions<T>,
): Promise<T> {
  const endMs = performance.now() + MAX_ELAPSED_MS
  for (let attempt = 1; ; attempt++) {
    const isLate = () => performance.now() > endMs
    try {
      const value = await run()
      if (isFinal(value) || attempt === maxAttempts || isLate()) return value
    } catch (error) {
      if (attempt === maxAttempts || !isTemporary(error)) throw error
      if (isLate() && (attempt >= MAX_LATE_ATTEMPTS || !isProgress(error))) throw error
    }
    await pause(Math.random() * Math.min(2 ** attempt, MAX_DELAY_MS))
  }
}
