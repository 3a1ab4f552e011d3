import type { Policy } from '../policies/policy.js'
import type { Store } from '../stores/store.js'
import { warnOnce } from '../util/warn-once.js'

/** Whether usage under a policy counts under another one. Default: if both are of one kind. */
export type KeepsUsage = NonNullable<Store['keepsUsage']>

/**
 * Warns the operator, once for each limit, if a limit has got a policy under which its clients start afresh.
 * `limits` are the policies of the limit so far.
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
    const what = isSameKind ? 'of another window' : 'of another kind or with another rule'
    warnOnce(
      'HEADGATE_USAGE_RESET',
      `${owner}: the limit ${limit.name} has got a policy ${what} (${policy.spec.kind}, ${limit.policy.spec.kind}), ` +
        'for which the store counts apart: a client whose policy changes starts with a fresh limit. Keep the kind ' +
        'and change its numbers, or accept the fresh start.',
      limit.name,
    )
    return
  }
}
