import { setTimeout as pause } from 'node:timers/promises'

const MAX_ATTEMPTS = 30
/** No attempt begins later than this. */
const MAX_ELAPSED_MS = 2000
const MAX_DELAY_MS = 20

/**
 * Returns what `run` resolves with. Runs it again while it rejects with a temporary error: others were in the
 * way, and nothing has been changed. Exponential backoff with full jitter spreads competitors out. Rejects
 * with the last error.
 */
export async function retry<T>(run: () => Promise<T>, isTemporary: (error: unknown) => boolean): Promise<T> {
  const endMs = performance.now() + MAX_ELAPSED_MS
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || performance.now() > endMs || !isTemporary(error)) throw error
    }
    await pause(Math.random() * Math.min(2 ** attempt, MAX_DELAY_MS))
  }
}
