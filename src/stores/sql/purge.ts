import { setTimeout as pause } from 'node:timers/promises'
import { warnOnce } from '../../util/warn-once.js'
import { messageOf } from '../store-error.js'

/** How often a purge starts while the store is in use. */
const INTERVAL_MS = 60_000
/** Small batches with pauses, so that charges wait briefly for few row locks. */
const BATCH = 100
const PAUSE_MS = 20

/**
 * Creates a purger that removes expired rows in small batches, about once a minute while the store is in
 * use. It keeps no process alive. It warns of a failure once, and tries again at the next purge.
 */
export function purger(removeExpired: (limit: number) => Promise<number>) {
  let nextMs = performance.now() + Math.random() * INTERVAL_MS // spreads processes that start together
  let removing: Promise<number> | undefined
  let isClosed = false

  async function purge(): Promise<void> {
    nextMs = Number.POSITIVE_INFINITY // until this one is done
    try {
      for (let removed = BATCH; removed === BATCH && !isClosed; ) {
        removing = removeExpired(BATCH)
        removed = await removing
        await pause(PAUSE_MS, undefined, { ref: false })
      }
    } catch (error) {
      warnOnce(
        'HEADGATE_PURGE_FAILED',
        `headgate: expired rows could not be removed (${messageOf(error)}). Charges are not affected.`,
      )
    }
    nextMs = performance.now() + (0.5 + Math.random()) * INTERVAL_MS
  }

  return {
    /** Starts a purge if one is due. It only looks at the clock, which is cheap enough for each batch. */
    runIfDue(): void {
      if (!isClosed && performance.now() >= nextMs) purge()
    },
    async close(): Promise<void> {
      isClosed = true
      await removing?.catch(() => undefined) // purge() reports it
    },
  }
}
