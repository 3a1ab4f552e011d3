import { StoreError } from '../stores/store-error.js'
import type { Admission } from './circuit-breaker.js'

/** The mark of errors of an open circuit, shared by all copies of this package. */
const CIRCUIT_OPEN = Symbol.for('headgate.CircuitOpenError')

/** The error of a call that an open circuit breaker stopped. */
export class CircuitOpenError extends StoreError {
  constructor(store: string, { cause, server }: Pick<Admission, 'cause' | 'server'>) {
    const which = server === undefined ? '' : ` of ${server}`
    const message = `the circuit breaker${which} is open after repeated failures (${cause?.message})`
    super(store, message, { cause, server, unsent: true })
    Object.defineProperty(this, CIRCUIT_OPEN, { value: true })
  }
}

/** Returns whether an error is a `CircuitOpenError`, also of another copy of this package. */
export function isCircuitOpen(error: unknown): boolean {
  return error instanceof Error && CIRCUIT_OPEN in error
}

/** Returns whether an outcome is a time-out: the store may have applied the operation, or may yet do so. */
export function isTimeout(outcome: unknown): boolean {
  return outcome instanceof StoreError && (outcome.cause as Error | undefined)?.name === 'TimeoutError'
}
