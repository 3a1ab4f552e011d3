import { limitsKey, type PublishedLimit } from '../../pipe/limits-document.js'
import { publishedPolicy } from '../../pipe/published-limits.js'
import type { Policy } from '../../policies/policy.js'
import { baseOf, type PolicySpec } from '../../policies/spec.js'
import type { StoreConnection } from './connection.js'
import type { StoredLimit } from './stored-limit.js'

/** A policy as its limiter has published it. */
export interface PublishedPolicy {
  /** The policy itself or, for a ban, the one that it wraps. */
  readonly policy: Policy
  /** For how long a ban counts denials, from the first of them. 0 if the policy is not a ban. */
  readonly withinMs: number
}

/**
 * The policies of limits. If a limit has several, they are plans, which share their keys. A limit whose
 * limiter has published nothing is missing.
 */
export type PublishedPolicies = ReadonlyMap<StoredLimit, readonly PublishedPolicy[]>

/** Reads the policies of limits. */
export async function readPolicies(
  connection: StoreConnection,
  prefix: string,
  limits: Iterable<StoredLimit>,
): Promise<PublishedPolicies> {
  const byLimit = new Map<StoredLimit, readonly PublishedPolicy[]>()
  const documents = new Map<string, Promise<readonly PublishedLimit[]>>()
  for (const limit of limits) {
    const key = limitsKey(prefix, limit.limiter)
    const document = documents.get(key) ?? connection.readLimits(key)
    documents.set(key, document)
    const published = (await document).filter(({ scope }) => scope === limit.scope)
    const policies = published.flatMap(({ spec }) => policyOfKind(limit, spec))
    if (policies.length > 0) byLimit.set(limit, policies)
  }
  return byLimit
}

/** Returns the policy of a spec; none if it has other keys, or if no policy has such numbers. */
function policyOfKind({ anyPolicy }: StoredLimit, spec: PolicySpec): readonly PublishedPolicy[] {
  const base = baseOf(spec)
  const policy = base.kind === anyPolicy.spec.kind ? publishedPolicy(base) : undefined
  return policy === undefined ? [] : [{ policy, withinMs: spec.kind === 'ban' ? spec.withinMs : 0 }]
}
