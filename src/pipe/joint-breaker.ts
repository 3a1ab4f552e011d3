import type { StoreError } from '../stores/store-error.js'
import { worstState } from './breaker-state.js'
import type { Admission, CircuitBreaker, Generation } from './circuit-breaker.js'

/**
 * Joins the circuit breakers of the servers that one call needs, all of them. It is admitted if every one
 * admits it; otherwise nothing is sent, not even to the servers that are up.
 *
 * A failure counts against the server that the error names. If it names none, as a time-out does, it counts
 * against the servers from which no call has succeeded since this one was sent. A denial by one server, or
 * its reply that it cannot decide, says nothing about the others. A probe that ends without proof that its
 * server is up has failed, so that a later call may probe it again.
 */
export function jointBreaker(breakers: readonly CircuitBreaker[]): Admission {
  const worst = () => {
    const state = worstState(breakers.map((breaker) => breaker.state))
    return breakers.find((breaker) => breaker.state === state) as CircuitBreaker
  }
  return {
    get state() {
      return worst().state
    },
    get cause() {
      return worst().cause
    },
    get server() {
      return worst().server
    },
    admit: () => (breakers.every(({ isReady }) => isReady) ? jointGeneration(breakers) : undefined),
    nextChange() {
      const probed = breakers.filter(({ state }) => state === 'half-open')
      return Promise.all(probed.map((breaker) => breaker.nextChange()))
    },
  }
}

function jointGeneration(breakers: readonly CircuitBreaker[]): Generation {
  const admitted = breakers.map((breaker) => {
    const generation = breaker.admit() as Generation
    return { breaker, generation, successesBefore: breaker.successes }
  })

  function isToBlame(
    { server }: StoreError,
    { breaker, successesBefore }: (typeof admitted)[number],
  ): boolean {
    if (breaker.state === 'half-open') return true // this call is its probe
    return server === undefined ? breaker.successes === successesBefore : breaker.server === server
  }

  return {
    server: undefined,
    recordSuccess(isPartial) {
      for (const { breaker, generation } of admitted) {
        if (!isPartial) generation.recordSuccess()
        else if (breaker.state === 'half-open') generation.recordFailure(breaker.cause as StoreError)
      }
    },
    recordFailure(error) {
      for (const each of admitted) if (isToBlame(error, each)) each.generation.recordFailure(error)
    },
  }
}
