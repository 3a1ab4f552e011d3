import {
  CLOSED,
  type Decision,
  decisionOf,
  type GiveBack,
  type NamedPart,
  OPEN,
  openDecision,
  refundsOf,
} from './decision.js'
import type { StoreErrorChoice } from './options.js'
import type { GuardedStore } from './stores/guard.js'
import type { StandIn } from './stores/stand-in.js'
import type { Refund, Verdict } from './stores/store.js'

/** What decides in place of a store. */
export interface Replacement {
  readonly store: GuardedStore
  readonly standIn: StandIn
  /** Called when something is let through that the store will never be charged with. */
  readonly onUnnoted: () => void
}

/**
 * Decides what the store could not. Where it may still answer, units that it takes late count once: they are given back where the
 * request was refused or has been given back meanwhile, and they are not owed to it any more where the stand-in let the request
 * through.
 */
export function decideWithoutStore(
  { store, standIn, onUnnoted }: Replacement,
  choice: StoreErrorChoice,
  parts: readonly NamedPart[],
  answer: Promise<Verdict> | undefined,
): Decision {
  if (choice === 'allow') return answer === undefined ? OPEN : openDecision(lateUnits(store, parts, answer))
  if (choice === 'deny') {
    if (answer !== undefined) lateUnits(store, parts, answer)()
    return CLOSED
  }
  const { verdict, parts: own, owed, isUnnoted } = standIn.charge(parts)
  if (isUnnoted) onUnnoted()
  const giveBackLate = answer && lateUnits(store, parts, answer, () => standIn.forgive(owed))
  if (!verdict.allowed) giveBackLate?.()
  return decisionOf(own, verdict, 'local', () => {
    standIn.refund(refundsOf(own, verdict))
    standIn.forgive(owed)
    return giveBackLate?.()
  })
}

/** Gives back what the store takes, or took, by an answer that is late. `onTaken` is called when it does. */
function lateUnits(
  store: GuardedStore,
  parts: readonly NamedPart[],
  answer: Promise<Verdict>,
  onTaken?: () => void,
): GiveBack {
  let isUnwanted = false
  let taken: readonly Refund[] = []

  answer
    .then((verdict) => {
      if (!verdict.allowed) return undefined
      onTaken?.()
      taken = refundsOf(parts, verdict)
      return isUnwanted ? store.refund(taken) : undefined
    })
    .catch(() => {}) // it failed: whether anything was taken, or given back, is unknown
  return () => {
    isUnwanted = true
    return taken.length > 0 ? store.refund(taken) : undefined
  }
}
