import type { Policy } from '../policies/policy.js'
import type { Store } from '../stores/store.js'
import { warnOnce } from '../util/warn-once.js'

/** Whether usage under one policy still counts under another of the same kind. */
export type KeepsUsage = NonNullable<Store['keepsUsage']>

/**
 * Warns the operator, once for each limit, if the limit has changed to a policy under which its clients
 * start afresh. `limits` are the limits used so far, with their policies.
 */
export function warnUsageReset(
  owner: string,
  limit: { readonly name: string; readonly scope: string; readonly policy: Policy },
  limits: Iterable<typeof limit>,
  keepsUsage: KeepsUsage = () => true,
): void {
  for (const { name, scope, policy } of limits) {
    if (name !== limit.name || policy === limit.policy) continue
    const isSameKind = scope === limit.scope
    if (isSameKind && keepsUsage(policy, limit.policy)) continue
    const what = isSameKind ? 'another window' : 'another kind, onChange or ttl'
    warnOnce(
      'HEADGATE_USAGE_RESET',
      `${owner}: the policy of the limit ${limit.name} now has ${what} (${limit.policy.spec.kind} after ` +
        `${policy.spec.kind}). A client whose policy changes starts with a fresh quota. Undo the change, or accept ` +
        'the fresh start.',
      limit.name,
    )
    return
  }
}
