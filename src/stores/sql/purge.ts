import { setTimeout as pause } from 'node:timers/promises'
import { warnOnce } from '../../util/warn-once.js'

/** How often expired rows are looked for while there are charges. */
const EVERY_MS = 60_000
/** So many at once, with a pause behind, so that charges wait for few row locks and for a short time. */
const MOST = 100
const PAUSE_MS = 20

/** Removes expired rows behind the requests. */
export interface Purger {
  /** To be called with each batch: begins when it is time. Costs a look at the clock. */
  notice(): void
  /** Ends it, when what is under way is done. */
  close(): Promise<void>
}

/**
 * Removes expired rows in small batches, about once a minute while there are charges. No timer keeps the process alive, and what
 * fails is told once and tried again the next time.
 */
export function purger(removeExpired: (most: number) => Promise<number>): Purger {
  let nextMs = performance.now() + Math.random() * EVERY_MS // processes that start together take turns
  let removing: Promise<number> | undefined
  let isRunning = false
  let isClosed = false

  async function purge(): Promise<void> {
    isRunning = true
    try {
      for (let removed = MOST; removed === MOST && !isClosed; ) {
        removing = removeExpired(MOST)
        removed = await removing
        await pause(PAUSE_MS, undefined, { ref: false })
      }
    } catch (error) {
      warnOnce(
        'HEADGATE_PURGE_FAILED',
        `headgate: expired rows could not be removed (${error instanceof Error ? error.message : error}). Charges go on.`,
      )
    }
    nextMs = performance.now() + (0.5 + Math.random()) * EVERY_MS
    isRunning = false
  }

  return {
    notice() {
      if (!isRunning && !isClosed && performance.now() >= nextMs) purge()
    },
    async close() {
      isClosed = true
      await removing?.catch(() => undefined) // it has been told
    },
  }
}
