import { ServerStates, worstState } from '../pipe/breaker-state.js'
import type { StoreMessage, StoreStateChange } from '../pipe/store-channel.js'
import { groupBy } from '../util/group-by.js'

type ServerState = StoreStateChange['state']

/** The state of the circuit breakers of a series. */
export interface Breaker {
  readonly limiter: string | undefined
  readonly store: string
  readonly state: ServerState
}

/** The circuit breakers of one limiter. */
interface LimiterBreakers extends Omit<Breaker, 'state'> {
  readonly states: ServerStates
}

/**
 * Creates what remembers the states of circuit breakers, by the messages of the channel `headgate:store`.
 * Each limiter has its own, one for each server of its store. A series shows the worst of its limiters,
 * which have the same name and store.
 */
export function breakerStates() {
  const byInstance = new Map<object, LimiterBreakers>()

  function update(message: Exclude<StoreMessage, { type: 'batch' }>): void {
    const { type, instance, limiter, store } = message
    if (type === 'close') {
      byInstance.delete(instance)
      return
    }
    const entry = byInstance.get(instance) ?? { limiter, store, states: new ServerStates() }
    byInstance.set(instance, entry)
    if (type === 'state') entry.states.set(message.server, message.state)
  }

  /** Returns the worst state for each name of a limiter and of its store. */
  function worst(): readonly Breaker[] {
    const series = groupBy(byInstance.values(), ({ limiter, store }) => `${limiter ?? ''}\n${store}`)
    return Array.from(series.values(), (same) => {
      const { limiter, store } = same[0]
      return { limiter, store, state: worstState(same.map(({ states }) => states.worst)) }
    })
  }

  return { update, worst }
}
