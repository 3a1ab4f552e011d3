import type { Part } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { processWide } from '../util/process-wide.js'
import type { PipeOptions } from './pipe-options.js'
import type { RemotePipe } from './remote-pipe.js'

/** What a remote store brings to its limiters, which import nothing of it. */
export interface RemoteAccess {
  pipe(store: Store, options: PipeOptions): RemotePipe
  /** Returns the part that marks the units of a part as undecided, for other processes. */
  markOf(part: Part): Part
  /** Returns the store's `apply` with a check of each outcome. Absent for a store of this package. */
  readonly validated?: ((store: Store) => Store['apply']) | undefined
}

/**
 * By the store, whose `apply` may be replaced later, as by a spy, and by its `apply`, for copies such as
 * `{ ...store, name }`. A copy with an `apply` of its own must bring its own access.
 */
const accesses = processWide('remoteAccess', () => new WeakMap<Store | Store['apply'], RemoteAccess>())

/** Records what a remote store brings. */
export function setRemoteAccess(store: Store, access: RemoteAccess): void {
  accesses.set(store, access)
  accesses.set(store.apply, access)
}

/** Returns what a remote store brings; `undefined` for any other store. */
export function remoteAccessOf(store: Store): RemoteAccess | undefined {
  return accesses.get(store) ?? accesses.get(store.apply)
}
