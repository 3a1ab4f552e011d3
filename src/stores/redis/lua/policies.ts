import type { FlatSpec } from '../../../policies/spec.js'
import { banFrom } from './ban.js'
import { CONSECUTIVE, FIRST_REQUEST_WINDOW, FIXED_WINDOW, QUOTA, QUOTA_PARAMS } from './counts.js'
import { SLIDING_LOG } from './log.js'
import type { LuaPolicy } from './lua-policy.js'
import { CONCURRENCY, SLIDING_WINDOW } from './slices.js'
import { TOKEN_BUCKET } from './token-bucket.js'

export const LUA_POLICIES: Readonly<Record<FlatSpec['kind'], LuaPolicy>> = {
  'token-bucket': TOKEN_BUCKET,
  'fixed-window': FIXED_WINDOW,
  'first-request-window': FIRST_REQUEST_WINDOW,
  'sliding-window': SLIDING_WINDOW,
  quota: QUOTA,
  'sliding-log': SLIDING_LOG,
  consecutive: CONSECUTIVE,
  concurrency: CONCURRENCY,
  'ban-token-bucket': banFrom(TOKEN_BUCKET),
  'ban-fixed-window': banFrom(FIXED_WINDOW),
  'ban-first-request-window': banFrom(FIRST_REQUEST_WINDOW),
  'ban-sliding-window': banFrom(SLIDING_WINDOW),
  'ban-quota': banFrom(QUOTA, QUOTA_PARAMS),
  'ban-sliding-log': banFrom(SLIDING_LOG),
  'ban-consecutive': banFrom(CONSECUTIVE),
}
