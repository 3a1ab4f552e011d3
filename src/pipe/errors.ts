import { StoreError } from '../stores/store-error.js'
import { TimeoutError } from '../util/timeout.js'
import type { Admission } from './circuit-breaker.js'

/** The error of a call that an open circuit breaker stopped. */
export class CircuitOpenError extends StoreError {
  constructor(store: string, { cause, server }: Pick<Admission, 'cause' | 'server'>) {
    const which = server === undefined ? '' : ` of ${server}`
    const message = `the circuit breaker${which} is open after repeated failures (${cause?.message})`
    super(store, message, { cause, server, unsent: true })
  }
}

/** Returns whether an outcome is a time-out: the store may have applied the operation, or may yet do so. */
export function isTimeout(outcome: unknown): boolean {
  return outcome instanceof StoreError && outcome.cause instanceof TimeoutError
}
