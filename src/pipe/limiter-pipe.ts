import type { Charge, Operation, Outcome } from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import { checkDenialTimes } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { Deadlines } from '../util/timeout.js'
import { denialCacheOf, repeatDenials } from './denial-cache.js'
import { closeStore, type GuardedStore, type GuardOptions, guardStore } from './guarded-store.js'
import { type OnLate, type Pipe, type SettleAny, sendFor } from './pipe.js'
import { pipeTo, validateOutcome } from './store-pipe.js'

interface LimiterPipeOptions extends GuardOptions {
  /** The longest that a denial is cached. 0 turns the cache off, so that the store decides every charge. */
  readonly denyCacheMs: number
  /** Creates the layer that knows which units are those of undecided requests. */
  readonly holdUndecided?: (<P extends Pipe>(pipe: P, store: Store) => P) | undefined
}

/**
 * Creates the pipe from a limiter to its store. An operation passes, in order, the store's local decision,
 * the denial cache, the time-out and circuit breakers, and the batcher. A memory store needs none of them.
 * The layer for undecided requests follows the cache, which must not repeat the denials that they cause, and
 * comes before the local decision, whose units it has to know.
 */
export function limiterPipe(
  store: Store,
  { denyCacheMs, holdUndecided, ...guardOptions }: LimiterPipeOptions,
): GuardedStore {
  if (localStatesOf(store) !== undefined) {
    const local = localPipe(store, guardOptions)
    return holdUndecided?.(local, store) ?? local
  }
  if (store.denialTimes !== undefined) checkDenialTimes(`the store ${store.name}`, store.denialTimes)
  const { minMs, maxMs } = store.denialTimes ?? { minMs: 0, maxMs: denyCacheMs }
  const times = { minMs: Math.min(minMs, denyCacheMs), maxMs: Math.min(maxMs, denyCacheMs) }
  const guarded = guardStore(store, guardOptions)
  const cached = (pipe: GuardedStore) => repeatDenials(pipe, denialCacheOf(store), times)
  if (holdUndecided === undefined) return decideLocallyFirst(cached(guarded), store)
  return cached(holdUndecided(decideLocallyFirst(guarded, store), store))
}

/** Creates the pipe to a store whose states are in this process. It needs no guard. */
function localPipe(store: Store, { timeoutMs }: GuardOptions): GuardedStore {
  return {
    ...pipeTo(store),
    name: store.name,
    state: () => 'closed',
    probeKeys: (key) => [key],
    close: () => closeStore(store, new Deadlines(timeoutMs)),
  }
}

/**
 * Creates a pipe that first lets the store decide a charge locally, such as by units that it leased, and
 * sends all else to `pipe`. A local decision needs no promise, and no layer can delay or deny it.
 */
function decideLocallyFirst<P extends Pipe>(pipe: P, store: Store): P {
  if (store.decideLocally === undefined) return pipe
  const decideLocally = store.decideLocally.bind(store)

  function decide(charge: Charge): Outcome | undefined {
    try {
      const verdict = decideLocally(charge)
      return verdict && validateOutcome(store, charge, verdict)
    } catch (cause) {
      return asStoreError(store.name, cause)
    }
  }

  function send(operation: Operation, settle: SettleAny, onLate?: OnLate): Outcome | undefined {
    const outcome = operation.type === 'charge' ? decide(operation) : undefined
    return outcome ?? pipe.send(operation, settle, onLate)
  }

  return { ...pipe, send: sendFor(send) }
}
