import type { KeyedPolicy, Part } from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import type { Store } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import { processWide } from '../util/process-wide.js'
import type { BreakerState } from './breaker-state.js'
import type { OnBreakerChange } from './circuit-breaker.js'
import { LocalPipe } from './local-pipe.js'
import type { Pipe } from './pipe.js'

/** The pipe from a limiter to its store. */
export interface LimiterPipe extends Pipe {
  /** The store's name. */
  readonly name: string
  /** The worst state of the circuit breakers of the store's servers, or of those that keep `keys`. */
  state(keys?: readonly KeyedPolicy[]): BreakerState
  /** Returns `key`, and one more key for each other server whose circuit breaker is not closed. */
  probeKeys(key: string): readonly string[]
  /** Returns `pipe`, which leads here, with refunds that outlast an outage of the store. */
  resendRefunds(pipe: Pipe, onLost: (error: StoreError) => void): RefundingPipe
  /** Waits for pending calls, then closes the store, each within the time-out. */
  close(): Promise<void>
}

/** A pipe whose refunds outlast an outage. */
export interface RefundingPipe extends Pipe {
  /** Tries once more to send the queued refunds. Those that still cannot be sent are lost. */
  close(): Promise<void>
}

/** How a limiter calls its store. */
export interface PipeOptions {
  /** The name of the limiter, for the channel `headgate:store`. */
  readonly limiter?: string | undefined
  /** Whether calls are published to that channel. Default true. */
  readonly isPublished?: boolean
  readonly timeoutMs: number
  /** The longest that a denial is cached. 0 turns the cache off, so that the store decides every charge. */
  readonly denyCacheMs: number
  readonly onChange?: OnBreakerChange
  /** Puts the part that tracks the units of undecided requests in front of a pipe. */
  readonly trackUndecided?: ((pipe: Pipe, store: Store) => Pipe) | undefined
}

/** What a remote store brings to its limiters, which import nothing of it. */
export interface RemoteAccess {
  pipe(store: Store, options: PipeOptions): LimiterPipe
  /** Returns the part that marks the units of a part as undecided, for other processes. */
  markOf(part: Part): Part
  /** Returns the store's `apply` with a check of each outcome. Absent for a store of this package. */
  readonly validated?: ((store: Store) => Store['apply']) | undefined
}

/** By `apply`, so that a wrapper such as `{ ...store, apply }` must bring its own. */
const accessByApply = processWide('remoteAccess', () => new WeakMap<Store['apply'], RemoteAccess>())

/** Records what a remote store brings. */
export function setRemoteAccess({ apply }: Store, access: RemoteAccess): void {
  accessByApply.set(apply, access)
}

/** Returns what a remote store brings; `undefined` for any other store. */
export function remoteAccessOf({ apply }: Store): RemoteAccess | undefined {
  return accessByApply.get(apply)
}

/** Creates the pipe from a limiter to its store, as `readStore` returned it. */
export function limiterPipe(store: Store, options: PipeOptions): LimiterPipe {
  const remote = localStatesOf(store) === undefined ? remoteAccessOf(store) : undefined
  if (remote !== undefined) return remote.pipe(store, options)
  return new LocalPipe(store, options.timeoutMs, options.trackUndecided?.(new LocalPipe(store), store))
}
