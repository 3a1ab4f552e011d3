import type { PartVerdict } from '../stores/store.js'

/** A part's figures as they stand some milliseconds later, when nothing else was taken or given back. */
export function aged(figures: PartVerdict, byMs: number): PartVerdict {
  const { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs } = figures
  return {
    allowed,
    remaining,
    resetAfterMs: Math.max(0, resetAfterMs - byMs),
    retryAfterMs: Math.max(0, retryAfterMs - byMs),
    moreAfterMs: Math.max(0, moreAfterMs - byMs),
  }
}
