import { BREAKER_STATES } from '../resilience/circuit-breaker.js'
import type { StoreMessage, StoreStateChange } from '../stores/shared/store-channel.js'

type State = StoreStateChange['state']

/** The state of a circuit breaker. */
export interface Breaker {
  readonly limiter: string | undefined
  readonly store: string
  readonly state: State
}

/**
 * Creates what remembers the states of circuit breakers, by the messages of the channel `headgate:store`.
 * Each limiter has its own; of those with the same name and store, which share a series, it shows the worst.
 */
export function breakerStates() {
  const breakers = new Map<object, Breaker>()

  function update(message: Exclude<StoreMessage, { type: 'batch' }>): void {
    const { type, instance, limiter, store } = message
    if (type === 'close') breakers.delete(instance)
    else if (type === 'state') breakers.set(instance, { limiter, store, state: message.state })
    else if (!breakers.has(instance)) breakers.set(instance, { limiter, store, state: 'closed' })
  }

  /** Returns the worst state for each name of a limiter and of its store. */
  function worst(): readonly Breaker[] {
    const byName = new Map<string, Breaker>()
    for (const breaker of breakers.values()) {
      const name = `${breaker.limiter ?? ''}\n${breaker.store}`
      const other = byName.get(name)
      if (other === undefined || BREAKER_STATES.indexOf(other.state) < BREAKER_STATES.indexOf(breaker.state))
        byName.set(name, breaker)
    }
    return [...byName.values()]
  }

  return { update, worst }
}
