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
    const what = isSameKind ? 'with another window' : 'of another kind, or with another onChange or ttl'
    warnOnce(
      'HEADGATE_USAGE_RESET',
      `${owner}: the limit ${limit.name} now has a policy ${what} (${limit.policy.spec.kind} after ` +
        `${policy.spec.kind}). The store counts their usage separately, so a client whose policy changes starts ` +
        'with a fresh quota. Keep the kind and change only the numbers, or accept the fresh start.',
      limit.name,
    )
    return
  }
}
