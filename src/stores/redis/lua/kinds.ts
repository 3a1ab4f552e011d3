import type { BaseSpec, PolicySpec } from '../../../policies/spec.js'
import { banOf } from './ban.js'
import { CONSECUTIVE, FIRST_REQUEST_WINDOW, FIXED_WINDOW, QUOTA } from './counts.js'
import { SLIDING_LOG } from './log.js'
import type { LuaKind } from './lua-kind.js'
import { CONCURRENCY, SLIDING_WINDOW } from './slices.js'
import { TOKEN_BUCKET } from './token-bucket.js'

/** The kind of a policy. A ban has the kind of the policy whose denials it counts. */
export type KindName = BaseSpec['kind'] | `ban-${BaseSpec['kind']}` | 'concurrency'

/** All kinds of policies that scripts know. */
export const LUA_KINDS: Readonly<Record<KindName, LuaKind>> = {
  'token-bucket': TOKEN_BUCKET,
  'fixed-window': FIXED_WINDOW,
  'first-request-window': FIRST_REQUEST_WINDOW,
  'sliding-window': SLIDING_WINDOW,
  quota: QUOTA,
  'sliding-log': SLIDING_LOG,
  consecutive: CONSECUTIVE,
  concurrency: CONCURRENCY,
  'ban-token-bucket': banOf(TOKEN_BUCKET),
  'ban-fixed-window': banOf(FIXED_WINDOW),
  'ban-first-request-window': banOf(FIRST_REQUEST_WINDOW),
  'ban-sliding-window': banOf(SLIDING_WINDOW),
  'ban-quota': banOf(QUOTA),
  'ban-sliding-log': banOf(SLIDING_LOG),
  'ban-consecutive': banOf(CONSECUTIVE),
}

/** Returns the kind of a spec. */
export function kindOf(spec: PolicySpec): KindName {
  return spec.kind === 'ban' ? `ban-${spec.base.kind}` : spec.kind
}
