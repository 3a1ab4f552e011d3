import type { KeyedPolicy } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { type BreakerState, worstState } from './breaker-state.js'
import {
  type Admission,
  type CircuitBreaker,
  circuitBreaker,
  type OnBreakerChange,
} from './circuit-breaker.js'
import { jointBreaker } from './joint-breaker.js'

/** The most servers whose circuit breakers are kept: as many nodes as a Redis Cluster may have. */
const MAX_SERVERS = 1000
/** The most keys that are tried to find one on each server. */
const MAX_PROBE_KEYS = 1000

/** The circuit breakers of a store. */
export interface ServerBreakers {
  /** Returns what admits a call that needs these keys. */
  of(keys: readonly KeyedPolicy[]): Admission
  /** The worst state of all servers. */
  readonly state: BreakerState
  /** Returns `key`, and a similar key on each other server whose breaker is not closed, as far as found. */
  probeKeys(key: string): readonly string[]
}

/**
 * Creates the circuit breakers of a store: one for each server that `serverOf` names, so that a server that
 * is down does not affect the others. A store without `serverOf` has one breaker.
 *
 * Servers come and go. A breaker is created with the first call that needs its server. While it is not
 * closed, it is dropped as soon as its first key has moved to another server, as after a failover: then its
 * server may never be called again.
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

  /** Forgets a breaker. Calls that wait for its probe go on waiting for that. */
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
      const breakers = new Set(keys.map(({ key }) => breakerFor(key)))
      const [first, ...others] = breakers
      return others.length === 0 ? (first as CircuitBreaker) : jointBreaker([...breakers])
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
    of: () => breaker,
    get state() {
      return breaker.state
    },
    probeKeys: (key) => [key],
  }
}
