import type { Store } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import { processWide } from '../util/process-wide.js'
import type { DecisionEvents, WarnedLimiter } from './error-warnings.js'
import type { ScopedPolicy } from './limits-document.js'
import type { PipeOptions } from './pipe.js'
import type { LimitsPublisher, PublishingLimiter } from './publish-limits.js'
import type { RemotePipe } from './remote-pipe.js'
import type { UndecidedMarks } from './undecided-charge.js'

/**
 * The code that a limiter needs for a remote store. The store brings it, so a program that uses only memory
 * bundles none of it.
 */
export interface RemoteSupport {
  pipe(store: Store, options: PipeOptions): RemotePipe
  readonly marks: UndecidedMarks
  /**
   * Creates the function that warns of errors of the store. Call that function only if nothing listens to
   * `storeError`.
   */
  errorWarnings(events: DecisionEvents, limiter: WarnedLimiter): (error: StoreError) => void
  /** Creates the publisher of the numbers of a limiter's limits; `undefined` if it needs none. */
  limitsPublisher(
    limiter: PublishingLimiter,
    limits: () => Iterable<ScopedPolicy>,
  ): LimitsPublisher | undefined
  /** Returns the store's `apply` with a check of each outcome. Absent if they need no check. */
  readonly validatedApply?: ((store: Store) => Store['apply']) | undefined
}

/**
 * By the store, whose `apply` may be replaced later, as by a spy, and by its `apply`, for copies such as
 * `{ ...store, name }`. A copy with an `apply` of its own must bring its own support.
 */
const supportByStore = processWide(
  'remoteSupport',
  () => new WeakMap<Store | Store['apply'], RemoteSupport>(),
)

/** Records what a remote store brings. */
export function setRemoteSupport(store: Store, support: RemoteSupport): void {
  supportByStore.set(store, support)
  supportByStore.set(store.apply, support)
}

/** Returns what a remote store brings; `undefined` for any other store. */
export function remoteSupportOf(store: Store): RemoteSupport | undefined {
  return supportByStore.get(store) ?? supportByStore.get(store.apply)
}
