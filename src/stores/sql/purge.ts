import { setTimeout as pause } from 'node:timers/promises'
import { warnOnce } from '../../util/warn-once.js'

/** How often expired rows are looked for while there are charges. */
const INTERVAL_MS = 60_000
/** Small batches with pauses, so that charges wait for few row locks and briefly. */
const BATCH = 100
const PAUSE_MS = 20

/** Removes expired rows in the background. */
export interface Purger {
  /** Starts a purge when one is due. To be called with each batch of charges: it only looks at the clock. */
  runIfDue(): void
  /** Stops purging, and resolves when the batch under way is done. */
  close(): Promise<void>
}

/**
 * Creates a purger that removes expired rows in small batches, about once a minute while there are charges.
 * It keeps no process alive. A failure is reported once, and the next purge tries again.
 */
export function purger(removeExpired: (limit: number) => Promise<number>): Purger {
  let nextMs = performance.now() + Math.random() * INTERVAL_MS // processes that start together take turns
  let removing: Promise<number> | undefined
  let isRunning = false
  let isClosed = false

  async function purge(): Promise<void> {
    isRunning = true
    try {
      for (let removed = BATCH; removed === BATCH && !isClosed; ) {
        removing = removeExpired(BATCH)
        removed = await removing
        await pause(PAUSE_MS, undefined, { ref: false })
      }
    } catch (error) {
      warnOnce(
        'HEADGATE_PURGE_FAILED',
        `headgate: expired rows could not be removed (${error instanceof Error ? error.message : error}). Charges go on.`,
      )
    }
    nextMs = performance.now() + (0.5 + Math.random()) * INTERVAL_MS
    isRunning = false
  }

  return {
    runIfDue() {
      if (!isRunning && !isClosed && performance.now() >= nextMs) purge()
    },
    async close() {
      isClosed = true
      await removing?.catch(() => undefined) // purge() reports it
    },
  }
}
