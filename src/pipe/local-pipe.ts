import type { Outcome } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { type Pipe, sendFor } from './pipe.js'

/** Returns the way to a store whose states are in this process. It has no layers, and sends no call. */
export function localPipe(store: Store): Pipe {
  return {
    send: sendFor((operation) => {
      try {
        return (store.apply([operation]) as readonly Outcome[])[0]
      } catch (cause) {
        return asStoreError(store.name, cause)
      }
    }),
  }
}
