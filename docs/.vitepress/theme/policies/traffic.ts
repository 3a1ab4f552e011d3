/** The time between the requests of a burst. */
const BURST_EVERY_MS = 45

/** The times of requests that have not been sent yet: of bursts, and of a stream. */
export interface Traffic {
  burst(requests: number, nowMs: number): void
  /** Sends evenly from now on. 0 ends the stream. */
  stream(perSecond: number, nowMs: number): void
  /** Whether a request is still to come. */
  hasMore(): boolean
  /** Removes the times up to now, in order, and returns them. */
  takeDue(nowMs: number): number[]
}

export function createTraffic(): Traffic {
  let bursts: number[] = []
  let everyMs = 0
  let nextMs = Number.POSITIVE_INFINITY
  let lastMs = Number.NEGATIVE_INFINITY
  return {
    burst(requests, nowMs) {
      const times = Array.from({ length: requests }, (_, i) => nowMs + i * BURST_EVERY_MS)
      bursts = [...bursts, ...times].sort((a, b) => a - b)
    },

    stream(perSecond, nowMs) {
      everyMs = 1000 / perSecond
      nextMs = Math.max(nowMs, lastMs + everyMs)
    },

    hasMore: () => bursts.length > 0 || Number.isFinite(nextMs),

    takeDue(nowMs) {
      const due = bursts.filter((atMs) => atMs <= nowMs)
      bursts = bursts.slice(due.length)
      for (; nextMs <= nowMs; nextMs += everyMs) {
        lastMs = nextMs
        due.push(nextMs)
      }
      return due.sort((a, b) => a - b)
    },
  }
}
