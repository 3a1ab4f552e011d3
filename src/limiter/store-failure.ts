import type { FallbackStore } from '../resilience/fallback-store.js'
import type { GuardedStore } from '../resilience/guarded-store.js'
import type { Refund, Verdict } from '../stores/store.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import {
  CLOSED,
  type Decision,
  decisionOf,
  type NamedPart,
  OPEN,
  openDecision,
  refundsByName,
} from './decision.js'
import type { StoreErrorChoice } from './options.js'

/** What decides in place of a store. */
export interface Replacement {
  readonly store: GuardedStore
  readonly fallback: FallbackStore
  readonly share: number
  /** Called when something is let through that the store will never be charged with. */
  readonly onUnnoted: () => void
  /** Called when the store could not be given back what it took too late. */
  readonly onNotGivenBack: (error: unknown) => void
}

/**
 * Decides what the store could not. Where its answer may still come, it counts once: what the store takes late is given back where the
 * request was refused, or was given back meanwhile; and what the stand-in lets through is owed to the store when it is known that
 * it has not been taken.
 */
export function decideWithoutStore(
  replacement: Replacement,
  choice: StoreErrorChoice,
  parts: readonly NamedPart[],
  answer: Promise<Verdict> | undefined,
): Decision {
  if (choice === 'local') return decideLocally(replacement, parts, answer)
  if (answer === undefined) return choice === 'allow' ? OPEN : CLOSED
  const late = lateUnits(replacement, parts, answer)
  if (choice === 'allow') return openDecision(parts, (names) => (names ? undefined : late.giveBack()))
  late.giveBack()
  return CLOSED
}

function decideLocally(
  replacement: Replacement,
  parts: readonly NamedPart[],
  answer: Promise<Verdict> | undefined,
): Decision {
  const { fallback, share, onUnnoted } = replacement
  const { verdict, parts: own } = fallback.charge(parts, share)
  const wanted = parts.filter(({ cost }) => cost > 0)
  let owed: readonly Refund[] = []
  let isKept = verdict.allowed

  function owe(): void {
    if (!isKept) return
    owed = fallback.owe(wanted, verdict.atMs)
    if (owed.length < wanted.length) onUnnoted()
  }

  const late = answer && lateUnits(replacement, parts, answer, owe)
  if (late === undefined) owe()
  if (!isKept) late?.giveBack()
  return decisionOf(own, verdict, 'local', (names) => {
    const refunds = refundsByName(own, verdict, names)
    fallback.refund(refunds)
    if (names !== undefined)
      return fallback.forgive(owed.filter(({ key }) => refunds.some((one) => one.key === key)))
    isKept = false
    fallback.forgive(owed)
    return late?.giveBack()
  })
}

/** Units that the store takes by an answer that is late. */
interface LateUnits {
  /** Gives them back, now or when they are taken. */
  readonly giveBack: () => MaybePromise<void>
}

/** `onNotTaken` is called when it is known that the store takes none, or that nobody will know. */
function lateUnits(
  { store, onNotGivenBack }: Replacement,
  parts: readonly NamedPart[],
  answer: Promise<Verdict>,
  onNotTaken?: () => void,
): LateUnits {
  let isUnwanted = false
  let taken: readonly Refund[] = []

  async function settle(verdict: Verdict): Promise<void> {
    if (!verdict.allowed) return onNotTaken?.()
    taken = refundsByName(parts, verdict)
    if (isUnwanted && taken.length > 0) await store.refundLate(taken)
  }

  answer.then(
    (verdict) => settle(verdict).catch(onNotGivenBack),
    () => onNotTaken?.(),
  )
  return {
    giveBack() {
      isUnwanted = true
      return taken.length > 0 ? store.refundLate(taken) : undefined
    },
  }
}
