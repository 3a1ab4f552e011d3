import { isCircuitOpen } from '../pipe/errors.js'
import type { Charge, ChargeResult, Operation, ResultOf } from '../stores/operation.js'
import type { StoreError } from '../stores/store-error.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type Decision, unchargedDecision } from './decision.js'
import type { LimiterSettings } from './read-options.js'
import type { NamedPart } from './receipt.js'

/** The local fallback of a limiter, which decides while the store cannot, if `onStoreError` says so. */
export interface LocalFallback {
  readonly apply: <O extends Operation>(operation: O) => ResultOf<O>
  /** Gives parts the share of their limits that the fallback grants. */
  readonly scaleParts: (parts: readonly NamedPart[]) => readonly NamedPart[]
  readonly isEmpty: () => boolean
}

/** What a limiter decides by while the store cannot decide. */
interface FailureSettings {
  readonly settings: Pick<LimiterSettings, 'onStoreError'>
  readonly fallback: LocalFallback
  /** Called when the store could not decide a charge. */
  onStoreError(error: StoreError): void
}

/**
 * Decides a charge that the store could not decide, as `onStoreError` says. `decideLocally` turns the result
 * of the fallback store into a decision.
 */
export function decideWithoutStore(
  core: FailureSettings,
  error: StoreError,
  parts: readonly NamedPart[],
  subject: unknown,
  decideLocally: (shares: readonly NamedPart[], result: ChargeResult) => Decision,
): MaybePromise<Decision> {
  const { onStoreError } = core.settings
  const { fallback } = core
  if (!isCircuitOpen(error)) core.onStoreError(error) // the errors that opened the circuit were reported
  const givenChoice = typeof onStoreError === 'function' ? onStoreError(error, subject) : onStoreError
  return thenMaybe(givenChoice, (choice) => {
    if (choice !== 'local') return unchargedDecision(choice === 'allow' ? 'fail-open' : 'fail-closed')
    const shares = fallback.scaleParts(parts)
    return decideLocally(shares, fallback.apply<Charge>({ type: 'charge', parts: shares }))
  })
}
