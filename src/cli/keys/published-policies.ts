import { limitsIn, limitsKey } from '../../limiter/limits-document.js'
import type { Policy } from '../../policies/policy.js'
import { policyFromSpec } from '../../policies/policy-from-spec.js'
import { baseOf, type PolicySpec } from '../../policies/spec.js'
import type { StoreConnection } from './connection.js'
import type { StoredLimit } from './stored-limit.js'

/**
 * The policies of limits, as their limiters have published them; of a ban, the wrapped one. Several policies
 * are plans, which share their keys. Missing for a limit whose limiter has published nothing.
 */
export type PublishedPolicies = ReadonlyMap<StoredLimit, readonly Policy[]>

/** Reads the policies of limits. */
export async function readPolicies(
  connection: StoreConnection,
  prefix: string,
  limits: Iterable<StoredLimit>,
): Promise<PublishedPolicies> {
  const byLimit = new Map<StoredLimit, readonly Policy[]>()
  const texts = new Map<string, Promise<string | undefined>>()
  for (const limit of limits) {
    const key = limitsKey(prefix, limit.limiter)
    const text = texts.get(key) ?? connection.readDocument(key)
    texts.set(key, text)
    const specs = limitsIn(await text).filter(({ scope }) => scope === limit.scope)
    const policies = specs.flatMap(({ spec }) => policyOfKind(limit, baseOf(spec)))
    if (policies.length > 0) byLimit.set(limit, policies)
  }
  return byLimit
}

/** Returns the policy of a spec; none if it has other keys, or if no policy has such numbers. */
function policyOfKind({ anyPolicy }: StoredLimit, spec: PolicySpec): readonly Policy[] {
  try {
    return spec.kind === anyPolicy.spec.kind ? [policyFromSpec(spec)] : []
  } catch (error) {
    if (error instanceof TypeError) return []
    throw error
  }
}
