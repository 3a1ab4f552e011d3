import { keysOf, type Outcome } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { TimeoutError } from '../util/timeout.js'
import type { Call } from './call.js'
import { resentAtMs, whyTimedOut } from './client-notes.js'
import { CircuitOpenError } from './errors.js'
import type { ServerBreakers } from './server-breakers.js'

/**
 * Returns the outcome of a call to a store that was too slow, once its time-out has passed.
 *
 * - A call that still waits for the probe of a circuit breaker was never sent. It fails as if the breaker
 *   were open.
 * - A call that the server rejected without running it, and that was sent again, gets its whole time once
 *   more: the result is `undefined`.
 * - Any other call was sent, and its outcome is unknown. The error says why, if the store's client knows.
 */
export function timeoutOutcome(
  call: Call,
  store: Store,
  timeoutMs: number,
  breakers: ServerBreakers,
): Outcome | undefined {
  if (call.generation === undefined && !call.isReplaced)
    return new CircuitOpenError(store.name, breakers.of(keysOf(call.operation)))
  const client = store.origin?.client
  const isExtended = call.dueAtMs > call.sentAtMs + timeoutMs
  const isSentAgain = call.generation !== undefined && (resentAtMs(client) ?? 0) > call.sentAtMs
  if (isSentAgain && !isExtended) return undefined
  return asStoreError(store.name, new TimeoutError(timeoutMs), { hint: whyTimedOut(client) })
}
