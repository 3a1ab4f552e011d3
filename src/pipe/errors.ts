import { StoreError } from '../stores/store-error.js'
import type { Admission } from './circuit-breaker.js'

/** Marks each `CircuitOpenError`. All copies of this package share the symbol. */
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

/** Returns whether an error is a `CircuitOpenError`, of this copy of the package or another. */
export function isCircuitOpen(error: unknown): boolean {
  return error instanceof Error && CIRCUIT_OPEN in error
}

/** Returns whether an outcome is a time-out: the store may have applied the operation, or may yet do so. */
export function isTimeout(outcome: unknown): boolean {
  return outcome instanceof StoreError && (outcome.cause as Error | undefined)?.name === 'TimeoutError'
}
