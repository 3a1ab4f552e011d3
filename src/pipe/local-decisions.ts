import type { Charge, Outcome } from '../stores/operation.js'
import type { Pipe } from '../stores/shared/pipe.js'
import { validateOutcome } from '../stores/shared/store-pipe.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'

/**
 * Creates a pipe that first lets the store decide a charge without a round trip, such as by units that it
 * leased, and sends all else to `pipe`. Such a decision needs no promise, and no layer can delay or deny it.
 */
export function decideLocallyFirst<P extends Pipe>(pipe: P, store: Store): P {
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

  return {
    ...pipe,
    send(operation, settle, onLate) {
      const outcome = operation.type === 'charge' ? decide(operation) : undefined
      return (outcome as never) ?? pipe.send(operation, settle, onLate)
    },
  }
}
