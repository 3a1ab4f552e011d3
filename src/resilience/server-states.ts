import { type BreakerState, worstState } from './circuit-breaker.js'

/** The states of the circuit breakers of a store: of each server of several. */
export class ServerStates {
  /** Those that are not closed. */
  readonly #states = new Map<string | undefined, BreakerState>()

  set(server: string | undefined, state: BreakerState): void {
    if (state === 'closed') this.#states.delete(server)
    else this.#states.set(server, state)
  }

  get worst(): BreakerState {
    return worstState(this.#states.values())
  }
}
