import type { KeyedPolicy } from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import type { Store } from '../stores/store.js'
import { Deadlines } from '../util/timeout.js'
import type { BreakerState } from './breaker-state.js'
import { intoPipe, pipeOf } from './call.js'
import { denialCacheOf, denialLayer } from './denial-cache.js'
import { closeStore, type GuardOptions, guardOf } from './guard.js'
import { leasesOf } from './lease/leases.js'
import { localPipe } from './local-pipe.js'
import type { Pipe } from './pipe.js'
import { endAt } from './store-end.js'

/** The pipe from a limiter to its store. */
export interface LimiterPipe extends Pipe {
  /** The store's name. */
  readonly name: string
  /** The worst state of the circuit breakers of the store's servers, or of those that keep `keys`. */
  state(keys?: readonly KeyedPolicy[]): BreakerState
  /** Returns `key`, and one more key for each other server whose circuit breaker is not closed. */
  probeKeys(key: string): readonly string[]
  /** Waits for pending calls, then closes the store, each within the time-out. */
  close(): Promise<void>
}

interface LimiterPipeOptions extends GuardOptions {
  /** The longest that a denial is cached. 0 turns the cache off, so that the store decides every charge. */
  readonly denyCacheMs: number
  /** Puts the part that knows which units are those of undecided requests in front of a pipe. */
  readonly holdUndecided?: ((pipe: Pipe, store: Store) => Pipe) | undefined
}

/**
 * Creates the pipe from a limiter to its store. A call passes, in order, the leases, if the store is leased,
 * the denial cache, the guard with its time-out and circuit breakers, and the batcher. A memory store needs
 * none of them. What knows undecided requests follows the cache, which must not repeat the denials that they
 * cause, and comes before the leases, whose units it has to know.
 */
export function limiterPipe(
  store: Store,
  { denyCacheMs, holdUndecided, ...guardOptions }: LimiterPipeOptions,
): LimiterPipe {
  const { name } = store
  if (localStatesOf(store) !== undefined) {
    const pipe = localPipe(store)
    const close = () => closeStore(store, new Deadlines(guardOptions.timeoutMs))
    const { send } = holdUndecided?.(pipe, store) ?? pipe
    return { send, name, state: () => 'closed', probeKeys: (key) => [key], close }
  }
  const leases = leasesOf(store)
  const { minMs, maxMs } = leases?.denialTimes ?? { minMs: 0, maxMs: denyCacheMs }
  const times = { minMs: Math.min(minMs, denyCacheMs), maxMs: Math.min(maxMs, denyCacheMs) }
  const end = endAt(store)
  const denials = denialLayer(denialCacheOf(store), times)
  const guard = guardOf(store, end, guardOptions)
  const lease = leases ? [leases.layer] : []
  const { send } = holdUndecided
    ? pipeOf([denials], intoPipe(holdUndecided(pipeOf([...lease, guard], end), store)))
    : pipeOf([...lease, denials, guard], end)
  return { send, name, state: guard.state, probeKeys: guard.probeKeys, close: guard.close }
}
