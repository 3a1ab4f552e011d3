import { show } from '../../util/validate.js'

const { performance } = globalThis // read once: it is a getter, as slow as the clock itself
const ORIGIN_MS = performance.timeOrigin // read once: it is a slow getter

/** Returns the system clock at process start plus the monotonic time since: it never steps. */
export function monotonicNow(): number {
  return ORIGIN_MS + performance.now()
}

/** Throws if a user's clock returns nonsense, which would leave states that deny forever. */
export function validateClock(clock: () => number): () => number {
  return () => {
    const nowMs = clock()
    if (Number.isFinite(nowMs)) return nowMs
    throw new TypeError(`memoryStore: clock must return milliseconds, got ${show(nowMs)}.`)
  }
}
