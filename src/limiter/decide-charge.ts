import type { EventEmitter } from 'node:events'
import { peerAddress } from '../keys/connection.js'
import { CircuitOpenError, type GuardedStore } from '../pipe/guarded-store.js'
import type { Charge, Verdict } from '../stores/operation.js'
import type { StoreError } from '../stores/store-error.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type ChargeSource, type Decision, decisionOf, type NamedPart, type Report } from './decision.js'
import { emitFailure, type LimiterEvents } from './events.js'
import type { holdingsOf, Keeper } from './holdings.js'
import type { LimiterSettings } from './parse-options.js'
import type { ResolveCharge } from './resolve-charge.js'
import { CLOSED, denyDisconnected, OPEN, UNLIMITED } from './uncharged-decision.js'

/** What charges are decided with. */
interface DeciderOptions<Subject> extends Pick<LimiterSettings, 'onStoreError'> {
  readonly resolveCharge: ResolveCharge
  readonly store: GuardedStore
  readonly units: Keeper
  readonly fallbackUnits: Keeper
  /** Gives parts the share of their limits that the fallback grants. */
  readonly scaled: (parts: readonly NamedPart[]) => readonly NamedPart[]
  readonly holdings: ReturnType<typeof holdingsOf>
  readonly events: EventEmitter<LimiterEvents<Subject>>
}

/** Creates the functions that decide charges by a limiter's store, and without it when it fails. */
export function chargeDecider<Subject>({
  resolveCharge,
  store,
  units,
  fallbackUnits,
  scaled,
  holdings,
  onStoreError,
  events,
}: DeciderOptions<Subject>) {
  function decideTogether(
    subject: unknown,
    cost: number | undefined,
    report: Report,
  ): MaybePromise<Decision> {
    const parts = resolveCharge(subject, cost)
    if (!isPromise(parts)) return decideParts(parts, subject, report)
    peerAddress(subject) // Node.js remembers it now
    return parts.then(
      (resolved) => decideParts(resolved, subject, report),
      (error) => report(denyDisconnected(error), subject),
    )
  }

  function decideParts(
    parts: readonly NamedPart[],
    subject: unknown,
    report: Report,
  ): MaybePromise<Decision> {
    if (parts.length === 0) return report(UNLIMITED, subject)
    let settle: (outcome: Verdict | StoreError) => void
    const charge = { type: 'charge', parts } as const
    const known = store.send<Charge>(charge, (outcome) => settle(outcome), releaseLate)
    if (known !== undefined) return decisionBy(known, parts, subject, report)
    const later = new Promise<Verdict | StoreError>((resolve) => {
      settle = resolve
    })
    // Listeners and `onStoreError` run in the caller's async context, and not in that of the batch.
    return later.then((outcome) => decisionBy(outcome, parts, subject, report))
  }

  function decisionBy(
    outcome: Verdict | StoreError,
    parts: readonly NamedPart[],
    subject: unknown,
    report: Report,
  ): MaybePromise<Decision> {
    if (outcome instanceof Error)
      return thenMaybe(decideWithout(outcome, parts, subject), (decision) => report(decision, subject))
    return report(decideBy(outcome.source ?? 'store', parts, outcome, units), subject)
  }

  /** Returns the decision on a charge, which holds what it has taken of concurrency limits. */
  function decideBy(source: ChargeSource, charge: readonly NamedPart[], verdict: Verdict, keeper: Keeper) {
    const decision = decisionOf(source, { charge, verdict, apply: keeper.apply })
    return holdings.hold(decision, charge, verdict, keeper)
  }

  /** Releases what a charge took whose verdict came after the time-out: no decision has it. */
  function releaseLate(verdict: Verdict | StoreError, { parts }: Charge): void {
    if (!(verdict instanceof Error)) holdings.releaseLate(parts, verdict, units)
  }

  function decideWithout(
    error: StoreError,
    parts: readonly NamedPart[],
    subject: unknown,
  ): MaybePromise<Decision> {
    if (!(error instanceof CircuitOpenError)) emitFailure(events, 'storeError', error) // its cause was
    const choice = typeof onStoreError === 'function' ? onStoreError(error, subject) : onStoreError
    return thenMaybe(choice, (chosen) => {
      if (chosen !== 'local') return chosen === 'allow' ? OPEN : CLOSED
      const shares = scaled(parts)
      return thenMaybe(fallbackUnits.apply<Charge>({ type: 'charge', parts: shares }), (verdict) =>
        decideBy('local', shares, verdict, fallbackUnits),
      )
    })
  }

  return { decideTogether, decideParts, decideWithout }
}
