import type { Inspection } from '../../limiter/inspection.js'
import type { Limit } from '../../limiter/resolve-parts.js'
import type { PublishedLimit } from '../../pipe/limits-document.js'
import { publishedPolicy, readPublishedLimits, readScope } from '../../pipe/published-limits.js'
import { asStoreError } from '../../stores/store-error.js'
import { timeout } from '../../util/timeout.js'

/**
 * Returns the limits by which processes charge, candidates aside: those that the limiter has published and, for
 * keys of which it has published none, those of this process. So a process that has other numbers, and charges
 * nobody, shows the numbers of those that do.
 */
export async function limitsInUse(inspection: Inspection): Promise<readonly Limit[]> {
  const { store, limits, limitsKey, limiterScope, timeoutMs } = inspection
  const read = readPublishedLimits(store.documents, limitsKey)
  const published = await timeout(timeoutMs)(read).catch((error) => {
    throw asStoreError(store.name, error)
  })
  const start = limiterScope.slice(0, limiterScope.lastIndexOf(':') + 1)
  const inUse = published.flatMap((limit) => limitOf(limit, start) ?? [])
  const scopes = new Set(inUse.map(({ scope }) => scope))
  return [...inUse, ...Array.from(limits.values()).filter(({ scope }) => !scopes.has(scope))]
}

/** Returns a published limit. `start` is what its keys have before its scope. */
function limitOf({ scope, spec }: PublishedLimit, start: string): Limit | undefined {
  const read = readScope(scope)
  const policy = publishedPolicy(spec)
  if (read === undefined || read.isCandidate || policy === undefined) return undefined
  return { name: read.limit ?? read.limiter, policy, scope: `${start}${scope}:{` }
}
