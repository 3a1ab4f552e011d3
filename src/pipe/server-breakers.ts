import type { KeyedPolicy } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import { type BreakerState, worstState } from './breaker-state.js'
import {
  type Admission,
  type CircuitBreaker,
  circuitBreaker,
  type Generation,
  type OnBreakerChange,
} from './circuit-breaker.js'

/** The most servers whose circuit breakers are kept: as many nodes as a Redis Cluster may have. */
const MAX_SERVERS = 1000
/** The most keys that are tried to find one on each server. */
const MAX_PROBE_KEYS = 1000

/** The circuit breakers of a store. */
export interface ServerBreakers {
  /** What admits every call, if the store names no servers. */
  readonly only?: Admission
  /** Returns what admits a call that needs these keys. */
  of(keys: readonly KeyedPolicy[]): Admission
  /** The worst state of all servers. */
  readonly state: BreakerState
  /** Returns `key`, and a similar key for each other server whose breaker is not closed, if one is found. */
  probeKeys(key: string): readonly string[]
}

/**
 * Creates the circuit breakers of a store: one for each server that `serverOf` names, so that a server that
 * is down does not affect the others. A store without `serverOf` has one breaker.
 *
 * Servers come and go. A breaker is created with the first call that needs its server. A breaker that is not
 * closed is dropped once its first key has moved to another server, as after a failover: its own server may
 * never be called again.
 */
export function serverBreakers(store: Store, onChange: OnBreakerChange): ServerBreakers {
  if (store.serverOf === undefined) return onlyBreaker(onChange)
  const serverOf = store.serverOf.bind(store)
  /** By server, the oldest first, with the key that each was created for. */
  const entries = new Map<string | undefined, { readonly breaker: CircuitBreaker; readonly key: string }>()
  const failing = new Set<string | undefined>()

  function breakerFor(key: string): CircuitBreaker {
    const server = serverOf(key)
    const found = entries.get(server)
    if (found !== undefined) return found.breaker
    if (entries.size >= MAX_SERVERS) for (const oldest of [...entries.keys()].slice(0, 1)) drop(oldest)
    const breaker = circuitBreaker((...change) => {
      if (entries.get(server)?.breaker !== breaker) return // it was dropped
      if (change[0] === 'closed') failing.delete(server)
      else failing.add(server)
      onChange(...change)
    }, server)
    entries.set(server, { breaker, key })
    return breaker
  }

  /** Drops a breaker. Calls that already wait for its probe keep waiting. */
  function drop(server: string | undefined): void {
    entries.delete(server)
    if (failing.delete(server)) onChange('closed', undefined, ...(server === undefined ? [] : [server]))
  }

  function dropMoved(): void {
    for (const server of failing) if (serverOf(entries.get(server)?.key ?? '') !== server) drop(server)
  }

  return {
    of(keys) {
      if (failing.size > 0) dropMoved()
      if (keys.length <= 1) return breakerFor(keys[0]?.key ?? '')
      const [first = breakerFor(''), ...others] = new Set(keys.map(({ key }) => breakerFor(key)))
      return others.length === 0 ? first : jointBreaker([first, ...others])
    },
    get state() {
      dropMoved()
      return worstState(Array.from(failing, (server) => entries.get(server)?.breaker.state ?? 'closed'))
    },
    probeKeys(key) {
      dropMoved()
      const keys = [key]
      const missing = new Set(failing)
      missing.delete(serverOf(key))
      for (let i = 1; missing.size > 0 && i <= MAX_PROBE_KEYS; i++) {
        const similar = `${key}:${i}`
        if (missing.delete(serverOf(similar))) keys.push(similar)
      }
      return keys
    },
  }
}

function onlyBreaker(onChange: OnBreakerChange): ServerBreakers {
  const breaker = circuitBreaker(onChange)
  return {
    only: breaker,
    of: () => breaker,
    get state() {
      return breaker.state
    },
    probeKeys: (key) => [key],
  }
}

/**
 * Joins the circuit breakers of the servers that one call needs, all of them. It is admitted if every one
 * admits it; otherwise nothing is sent, not even to the servers that are up.
 *
 * A failure counts against the server that the error names. If it names none, as a time-out does, it counts
 * against the servers from which no call has succeeded since this one was sent. A denial by one server, or
 * its reply that it cannot decide, says nothing about the others. A probe that ends without proof that its
 * server is up has failed, so that a later call may probe it again.
 */
function jointBreaker(breakers: readonly [CircuitBreaker, ...CircuitBreaker[]]): Admission {
  const worst = () => {
    const state = worstState(breakers.map((breaker) => breaker.state))
    return breakers.find((breaker) => breaker.state === state) ?? breakers[0]
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
  const admitted = breakers.flatMap((breaker) => {
    const generation = breaker.admit()
    return generation === undefined ? [] : [{ breaker, generation, successesBefore: breaker.successes }]
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
        const { state, cause } = breaker
        if (!isPartial) generation.recordSuccess()
        else if (state === 'half-open' && cause !== undefined) generation.recordFailure(cause)
      }
    },
    recordFailure(error) {
      for (const each of admitted) if (isToBlame(error, each)) each.generation.recordFailure(error)
    },
  }
}
