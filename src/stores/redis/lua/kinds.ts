import type { KindName } from '../../../policies/spec.js'
import { banOf } from './ban.js'
import { CONSECUTIVE, FIRST_REQUEST_WINDOW, FIXED_WINDOW, QUOTA } from './counts.js'
import { SLIDING_LOG } from './log.js'
import type { LuaKind } from './lua-kind.js'
import { CONCURRENCY, SLIDING_WINDOW } from './slices.js'
import { TOKEN_BUCKET } from './token-bucket.js'

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
