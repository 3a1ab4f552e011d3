import { isCircuitOpen, isTimeout } from '../../pipe/errors.js'
import type { Refund, RenewResult } from '../../stores/operation.js'
import type { StoreError } from '../../stores/store-error.js'
import type { Group } from '../../util/group-by.js'
import type { Apply } from '../receipt.js'

/** Units of one limit that a request holds. */
export interface HeldUnits {
  /** Applies operations where they are held: in the limiter's store, or in its local fallback. */
  readonly apply: Apply
  /** The refund that releases them. Each renewal changes its `resetAtMs`. */
  units: Refund
  /** When they were taken or renewed, by `performance.now()`. */
  renewedAtMs: number
  /** The renewal in progress, if any; never rejects. */
  renewing: Promise<void> | undefined
  /** Resolves when the outcome of a renewal that timed out is known; `undefined` if there is none. */
  uncertainRenewal: Promise<void> | undefined
  /** Whether they are renewed. False once the client has left. */
  isRenewed: boolean
}

/** Renewals begin at this share of a ttl, and are retried at each tick, until the ttl is over. */
const RENEWAL_SHARE = 1 / 8
/** Used if the last renewal may have been applied: renewing twice counts the units twice for one ttl. */
const UNCERTAIN_SHARE = 1 / 2
/** Older units have expired in the store. */
const MAX_AGE_SHARE = 9 / 8

/** Returns how long units last without a renewal. */
export function ttlOf({ units }: HeldUnits): number {
  return units.policy.ttlMs ?? Number.POSITIVE_INFINITY
}

/** Returns how long ago units were taken or renewed, in ttls. */
function ageOf(holding: HeldUnits, nowMs: number): number {
  return (nowMs - holding.renewedAtMs) / ttlOf(holding)
}

/** Returns whether units have to be renewed now. */
export function isDue(holding: HeldUnits, nowMs: number): boolean {
  const { isRenewed, renewing, uncertainRenewal } = holding
  const dueShare = uncertainRenewal === undefined ? RENEWAL_SHARE : UNCERTAIN_SHARE
  return isRenewed && renewing === undefined && ageOf(holding, nowMs) >= dueShare
}

/** Returns whether the store has freed units that are no longer renewed. */
export function isForgotten(holding: HeldUnits, nowMs: number): boolean {
  return !holding.isRenewed && ageOf(holding, nowMs) > MAX_AGE_SHARE
}

/** Renews units of one key and slice. After a failure they stay due. */
export function renew(
  holdings: Group<HeldUnits>,
  nowMs: number,
  onFailed: (error: StoreError) => void,
): void {
  const renewing = sendRenewal(holdings, nowMs, onFailed).then(() => {
    for (const holding of holdings) holding.renewing = undefined
  })
  for (const holding of holdings) holding.renewing = renewing
}

async function sendRenewal(
  holdings: Group<HeldUnits>,
  nowMs: number,
  onFailed: (error: StoreError) => void,
): Promise<void> {
  const { apply, units } = holdings[0]
  const cost = holdings.reduce((sum, holding) => sum + holding.units.cost, 0)
  let settle: () => void = () => {}
  const settled = new Promise<void>((resolve) => {
    settle = resolve
  })
  const setUncertainRenewal = (next: HeldUnits['uncertainRenewal']) => {
    for (const holding of holdings) holding.uncertainRenewal = next
  }
  try {
    const renewal = { ...units, type: 'renew', cost } as const
    const renewed = await apply(renewal, (outcome) => {
      if (!(outcome instanceof Error)) recordRenewal(outcome, holdings, nowMs)
      setUncertainRenewal(undefined)
      settle()
    })
    recordRenewal(renewed, holdings, nowMs)
    setUncertainRenewal(undefined)
  } catch (error) {
    if (isTimeout(error)) setUncertainRenewal(settled)
    if (!isCircuitOpen(error)) onFailed(error as StoreError)
  }
}

/** Records the reset time of a renewal, unless a later one has. */
function recordRenewal(
  { resetAtMs }: RenewResult,
  holdings: readonly HeldUnits[],
  renewedAtMs: number,
): void {
  for (const holding of holdings) {
    if (holding.renewedAtMs >= renewedAtMs) continue
    holding.units = { ...holding.units, resetAtMs }
    holding.renewedAtMs = renewedAtMs
  }
}
