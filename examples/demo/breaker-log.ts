import type { Health, Limiter } from 'headgate'

type BreakerState = Health['state']

/** A change of a circuit breaker's state, and how long ago it happened. */
export interface BreakerChange {
  readonly state: BreakerState
  readonly agoMs: number
}

const MAX_CHANGES = 60

/** Records the states of a limiter's circuit breaker. The last change is the present state. */
export function breakerLog(limiter: Pick<Limiter<never>, 'events'>) {
  const log: { state: BreakerState; atMs: number }[] = []
  limiter.events.on('storeState', (state) => {
    log.push({ state, atMs: performance.now() })
    if (log.length > MAX_CHANGES) log.shift()
  })
  limiter.events.on('storeError', () => {}) // expected here; else it becomes a process warning

  return {
    changes: (): BreakerChange[] =>
      log.map(({ state, atMs }) => ({ state, agoMs: Math.round(performance.now() - atMs) })),
  }
}
