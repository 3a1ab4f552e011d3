/** The last known decision on a quota. Its times count from the decision; null = never. */
export function createQuota() {
  let decision
  let atMs = 0

  return {
    get decision() {
      return decision
    },

    record(latest) {
      decision = latest
      atMs = performance.now()
    },

    /** Returns what is left now. Only a token bucket refills evenly; others wait for the server. */
    level(kind) {
      const { limit, remaining, resetAfterMs, parts } = decision
      const missingMs =
        resetAfterMs === null ? Number.POSITIVE_INFINITY : resetAfterMs - (performance.now() - atMs)
      if (missingMs <= 0) return limit
      return kind === 'token-bucket' ? limit * (1 - missingMs / parts[0].windowMs) : remaining
    },

    note() {
      const { limit, remaining, resetAfterMs, moreAfterMs } = decision
      const elapsedMs = performance.now() - atMs
      if (remaining === limit || (resetAfterMs !== null && elapsedMs >= resetAfterMs)) return 'full'
      if (moreAfterMs === null) return 'full after you start over'
      const full = `full in ${seconds(resetAfterMs - elapsedMs)}`
      return moreAfterMs === resetAfterMs ? full : `more in ${seconds(moreAfterMs - elapsedMs)} · ${full}`
    },
  }
}

export function seconds(ms) {
  return `${(Math.max(0, ms) / 1000).toFixed(1)} s`
}
