import { peerAddress } from '../keys/request.js'
import type { LimiterPipe } from '../pipe/limiter-pipe.js'
import type { Charge, ChargeResult } from '../stores/operation.js'
import type { StoreError } from '../stores/store-error.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type Decision, decisionOf, denyDisconnected, type Finish, unchargedDecision } from './decision.js'
import type { LimiterSettings } from './read-options.js'
import type { Apply, NamedPart, Receipt } from './receipt.js'
import { BLOCKED, type ResolveParts, type resolversOf } from './resolve-parts.js'
import { decideWithoutStore, type LocalFallback } from './store-failure.js'

/** Decides the charges of a limiter, and changes the units that they took. */
export interface LimiterCore {
  readonly settings: LimiterSettings
  /** The names of the limits; `undefined` if a policy function determines one of them. */
  readonly limitNames: readonly string[] | undefined
  readonly store: LimiterPipe
  /** Applies an operation to the store. A refund that cannot be sent now is sent later. */
  readonly apply: Apply
  readonly fallback: LocalFallback
  /** The limits in force. A settings document may replace them. Their units are all in `store`. */
  limits: BoundLimits
  /**
   * On isolates, where no timer runs between requests, called before each charge, which awaits the promise.
   */
  readonly beforeCharge: (() => Promise<void> | undefined) | undefined
  /** Called when the store could not decide a charge. */
  onStoreError(error: StoreError): void
  /** Called when a charge was decided after its time-out. */
  onLate(outcome: ChargeResult | StoreError, charge: Charge): void
  /**
   * Holds the units of concurrency limits that a charge took, if any. Absent if no limit can have such
   * units.
   */
  readonly hold: ((receipt: Receipt) => void) | undefined
  /**
   * Tries once more to send the refunds that could not be sent, and closes the store unless it is shared.
   */
  close(options?: { readonly isStoreShared?: boolean }): Promise<void>
}

/** Limits, bound to their store. `ruledLimits` of `src/settings` creates those with a settings document. */
export interface BoundLimits extends Readonly<ReturnType<typeof resolversOf>> {
  /** Charges without building parts. Only if there is one limit, in memory. */
  readonly chargeDirectly?: ChargeDirectly | undefined
}

/** Charges a subject. Throws or rejects with what an option function threw. */
export type ChargeDirectly = (
  subject: unknown,
  cost: number | undefined,
  finish: Finish,
) => MaybePromise<Decision>

/**
 * Charges a subject with the parts that `resolve` returns. Denies a request that disconnected before its IP
 * address was read.
 */
export function chargeResolved(
  core: LimiterCore,
  resolve: ResolveParts,
  subject: unknown,
  cost: number | undefined,
  finish: Finish,
): MaybePromise<Decision> {
  let parts: MaybePromise<readonly NamedPart[]>
  try {
    parts = resolve(subject, cost)
  } catch (error) {
    return finish(denyDisconnected(error), subject)
  }
  if (!('then' in parts)) return chargeParts(core, parts, subject, finish)
  peerAddress(subject) // reading it makes Node.js cache it
  return parts.then(
    (later) => chargeParts(core, later, subject, finish),
    (error) => finish(denyDisconnected(error), subject),
  )
}

/** Sends the charge of parts to the store, and decides. */
export function chargeParts(
  core: LimiterCore,
  parts: readonly NamedPart[],
  subject: unknown,
  finish: Finish,
): MaybePromise<Decision> {
  if (parts.length === 0) return finish(unchargedDecision(parts === BLOCKED ? 'blocked' : 'none'), subject)
  let settle: (outcome: ChargeResult | StoreError) => void
  const charge = { type: 'charge', parts } as const
  const outcome = core.store.send<Charge>(charge, (later) => settle(later), core.onLate)
  if (outcome !== undefined) return resolveOutcome(core, outcome, parts, subject, finish)
  const settled = new Promise<ChargeResult | StoreError>((resolve) => {
    settle = resolve
  })
  // Listeners and `onStoreError` run in the caller's async context, and not in that of the batch.
  return settled.then((later) => resolveOutcome(core, later, parts, subject, finish))
}

function resolveOutcome(
  core: LimiterCore,
  outcome: ChargeResult | StoreError,
  parts: readonly NamedPart[],
  subject: unknown,
  finish: Finish,
): MaybePromise<Decision> {
  if (outcome instanceof Error) return resolveFailure(core, outcome, parts, subject, finish)
  return finish(decisionOf(outcome.source ?? 'store', parts, outcome, core.apply, core.hold), subject)
}

/**
 * Decides a charge that the store could not decide. It has its own function so that a charge that succeeds
 * allocates nothing for its closures.
 */
export function resolveFailure(
  core: LimiterCore,
  error: StoreError,
  parts: readonly NamedPart[],
  subject: unknown,
  finish: Finish,
): MaybePromise<Decision> {
  const decideLocally = (shares: readonly NamedPart[], result: ChargeResult) =>
    decisionOf('local', shares, result, core.fallback.apply, core.hold)
  const decision = decideWithoutStore(core, error, parts, subject, decideLocally)
  return thenMaybe(decision, (decided) => finish(decided, subject))
}
