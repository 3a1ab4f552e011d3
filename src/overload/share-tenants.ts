import { isIsolate } from '../platform.js'
import type { StoreError } from '../stores/store-error.js'
import { inBackground } from '../util/background-timer.js'
import type { DocumentStore } from './options.js'
import type { ProcessGuard } from './process-guard.js'
import { ROUND_MS, SharedShares } from './shared-shares.js'

/** Shares of tenants over several processes. */
interface Sharing {
  /** The last round's failure, if it failed. */
  error(): StoreError | undefined
  /** Ends the sharing, and leaves the slot to other processes. */
  stop(): Promise<void>
}

/**
 * Shares the tenants of a guard with guards of the same name in other processes, once a second. Calls
 * `onError` once for each outage of the store. On isolates, no timer runs between requests, so it does
 * nothing.
 */
export function shareTenants(
  guard: ProcessGuard,
  { name: store, documents }: DocumentStore,
  key: string,
  onError: (error: StoreError) => void,
): Sharing {
  if (isIsolate()) return { error: () => undefined, stop: async () => {} }
  const { tenants: shares } = guard
  const limit = () => guard.status().limit // that of a probe lasts for a moment
  const shared = new SharedShares({ store, documents, key, shares, limit, now: () => guard.now() })
  let [hasFailed, closed] = [false, undefined as Promise<void> | undefined]

  async function round(): Promise<void> {
    await shared.round()
    const error = shared.error()
    if (error !== undefined && !hasFailed) onError(error)
    hasFailed = error !== undefined
  }

  const timer = inBackground(setInterval(() => void round(), ROUND_MS))
  return {
    error: () => shared.error(),
    stop() {
      clearInterval(timer)
      closed ??= shared.close()
      return closed
    },
  }
}
