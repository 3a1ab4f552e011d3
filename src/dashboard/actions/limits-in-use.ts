import { IDENTITY_START } from '../../keys/identity-braces.js'
import type { Inspection } from '../../limiter/inspection.js'
import type { Limit } from '../../limiter/resolve-parts.js'
import type { PublishedLimit } from '../../pipe/limits-document.js'
import { publishedPolicy, readPublishedLimits, readScope } from '../../pipe/published-limits.js'
import { keyCodeOf } from '../../policies/spec.js'
import { asStoreError } from '../../stores/store-error.js'
import { timeout } from '../../util/timeout.js'

/**
 * Returns the limits that processes charge by, without candidates: those that the limiter has published and,
 * for scopes that it has not published, those of this process. So a process that charges no requests, and
 * has other numbers, shows the numbers in force.
 */
export async function limitsInUse(inspection: Inspection): Promise<readonly Limit[]> {
  const { store, limits, limitsKey, limiterScope, timeoutMs } = inspection
  const reading = readPublishedLimits(store.documents, limitsKey)
  const published = await timeout(timeoutMs)(reading).catch((error) => {
    throw asStoreError(store.name, error)
  })
  const start = limiterScope.slice(0, limiterScope.lastIndexOf(':') + 1)
  const limiter = limiterScope.slice(start.length)
  const inUse = published.flatMap((limit) => limitOf(limit, start, limiter) ?? [])
  const scopes = new Set(inUse.map(({ scope }) => scope))
  return [...inUse, ...Array.from(limits.values()).filter(({ scope }) => !scopes.has(scope))]
}

/**
 * Returns a published limit of a limiter that can deny requests; `undefined` for anything else that its document
 * holds. `start` is what its keys have before its scope.
 */
function limitOf({ scope, spec }: PublishedLimit, start: string, limiter: string): Limit | undefined {
  const scoped = readScope(scope)
  const policy = publishedPolicy(spec)
  if (scoped?.limiter !== limiter || scoped.isCandidate) return undefined
  if (policy === undefined || scoped.code !== keyCodeOf(policy.spec)) return undefined
  return { name: scoped.limit ?? limiter, policy, scope: start + scope + IDENTITY_START }
}
