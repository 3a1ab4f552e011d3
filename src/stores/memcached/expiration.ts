/** Longer expirations are absolute. */
const MOST_RELATIVE_SECONDS = 30 * 24 * 60 * 60
/** memcached's clock ticks once a second, so an item may be gone one second early. */
const SLACK_SECONDS = 2
const MOST_SECONDS = 0xfffffffe

/**
 * When an item expires, as memcached reads it: in whole seconds, never early; above 30 days as seconds since the Unix epoch.
 * 0 means never.
 */
export function expirationOf(afterMs: number, nowMs: number): number {
  const seconds = Math.ceil(afterMs / 1000) + SLACK_SECONDS
  if (seconds <= MOST_RELATIVE_SECONDS) return Math.max(1, seconds)
  const absolute = Math.ceil(nowMs / 1000) + seconds
  return absolute > MOST_SECONDS ? 0 : absolute
}
