/** So many times as long as the last batch took, within bounds. Before there was one, connections may have to be made. */
const TIMES = 4
const MIN_MS = 25
const MAX_MS = 2000
const FIRST_MS = 250

/** How long to wait for a batch until it is held to be stuck. */
export interface Patience {
  readonly ms: number
  /** To be told how long a batch took that was answered. */
  learn(tookMs: number): void
}

/** Learns from what batches take, unless it is given. */
export function patience(givenMs?: number): Patience {
  let ms = givenMs ?? FIRST_MS
  return {
    get ms() {
      return ms
    },
    learn(tookMs) {
      ms = givenMs ?? Math.min(Math.max(MIN_MS, TIMES * tookMs), MAX_MS)
    },
  }
}
