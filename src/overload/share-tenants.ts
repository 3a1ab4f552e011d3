import { isIsolate } from '../platform.js'
import { inBackground } from '../util/background-timer.js'
import type { DocumentStore } from './options.js'
import type { ProcessGuard } from './process-guard.js'
import { ROUND_MS, SharedShares } from './shared-shares.js'

/**
 * Has a guard share its tenants with those of the same name in other processes, once a second. Returns the
 * function that ends it, and tells the others. On isolates, no timer runs between requests, so it does nothing.
 */
export function shareTenants(
  guard: ProcessGuard,
  { name: store, documents }: DocumentStore,
  key: string,
): () => Promise<void> {
  if (isIsolate()) return async () => {}
  const { tenants: shares } = guard
  const limit = () => guard.status().limit // that of a probe lasts for a moment
  const shared = new SharedShares({ store, documents, key, shares, limit, now: () => guard.now() })
  const timer = inBackground(setInterval(() => void shared.round(), ROUND_MS))
  let closed: Promise<void> | undefined
  return () => {
    clearInterval(timer)
    closed ??= shared.close()
    return closed
  }
}
