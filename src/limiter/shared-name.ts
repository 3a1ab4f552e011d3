import { isPolicy, isSamePolicy, type Policy } from '../policies/policy.js'
import { keyCodeOf } from '../policies/spec.js'
import type { Store } from '../stores/store.js'
import { afterTurn } from '../util/defer.js'
import { processWide } from '../util/process-wide.js'
import { warnOnce } from '../util/warn-once.js'
import type { Entry } from './read-limits.js'
import { entryScope, type LimitContext } from './resolve-parts.js'

/**
 * The policies of the named limiters that this turn of the event loop has created: by client (or by store,
 * if it has no client), then by scope.
 */
const newPolicies = processWide('namedLimits', () => new Map<object, Map<string, Policy>>())

/**
 * Warns if one turn of the event loop, as at start-up, creates two limiters with the same name, and so the
 * same keys, but different policies. One created later may be the same limiter again, after a hot reload
 * or in a test. Returns a function to call once the limiter is closed.
 */
export function registerName(
  owner: string,
  store: Store,
  entries: readonly Entry[],
  context: LimitContext,
): () => void {
  const { client = store, table = '' } = store.origin ?? {}
  const policies = newPolicies.get(client) ?? new Map<string, Policy>()
  if (newPolicies.size === 0) afterTurn(() => newPolicies.clear())
  newPolicies.set(client, policies)
  const scopes = entries.flatMap((entry) => {
    const { policy } = entry
    if (!isPolicy(policy)) return []
    const scope = `${table}:${entryScope(entry, context)}:${keyCodeOf(policy.spec)}`
    const other = policies.get(scope)
    if (other !== undefined && !isSamePolicy(other, policy)) warn(owner, String(context.name), policy, other)
    policies.set(scope, policy)
    return scope
  })
  return () => {
    for (const scope of scopes) policies.delete(scope)
  }
}

function warn(owner: string, name: string, policy: Policy, other: Policy): void {
  const show = (each: Policy) => (policy.name === other.name ? JSON.stringify(each.spec) : each.name)
  warnOnce(
    'HEADGATE_SAME_NAME',
    `${owner}: two limiters named ${name} share their counts in one store, but not their policy: ` +
      `${show(policy)} and ${show(other)}. Give each its own name.`,
    name,
  )
}
