/**
 * The state of a circuit breaker. `'closed'`: every call reaches the store. `'open'`: none does.
 * `'half-open'`: one probes it.
 */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** All states, from best to worst. */
export const BREAKER_STATES: readonly BreakerState[] = ['closed', 'half-open', 'open']

/** Returns the worst of some states; `'closed'` if there are none. */
export function worstState(states: Iterable<BreakerState>): BreakerState {
  let worst: BreakerState = 'closed'
  for (const state of states) if (BREAKER_STATES.indexOf(state) > BREAKER_STATES.indexOf(worst)) worst = state
  return worst
}

/** The states of a store's circuit breakers, one for each server. */
export class ServerStates {
  /** Those that are not closed. */
  readonly #states = new Map<string | undefined, BreakerState>()

  set(server: string | undefined, state: BreakerState): void {
    if (state === 'closed') this.#states.delete(server)
    else this.#states.set(server, state)
  }

  /** The servers, as far as they have names, whose circuit breaker is not closed. */
  get failing(): readonly string[] {
    return Array.from(this.#states.keys()).filter((server) => server !== undefined)
  }

  get worst(): BreakerState {
    return worstState(this.#states.values())
  }
}
