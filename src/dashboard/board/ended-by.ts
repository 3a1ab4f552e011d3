/** Processes follow a block, and other changes, within this time. */
export const FOLLOWED_MS = 3000
/** Who is not denied for so many times its usual interval after a change is no longer denied. */
const TIMES_INTERVAL = 2

/** Returns whether denials at an interval have ended with a change: none has come since, although it would have been due. Denials may pause. */
export function isEnded(
  lastMs: number,
  intervalMs: number,
  changeMs: number,
  nowMs: number,
  pauseMs = 0,
): boolean {
  if (lastMs >= changeMs + FOLLOWED_MS) return false
  return nowMs - lastMs >= Math.max(FOLLOWED_MS + pauseMs, TIMES_INTERVAL * intervalMs)
}
