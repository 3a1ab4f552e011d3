import type { Apply } from '../limiter/receipt.js'
import { CircuitOpenError, isTimeout } from '../pipe/guarded-store.js'
import type { Refund, RenewResult } from '../stores/operation.js'
import type { StoreError } from '../stores/store-error.js'

/** Units of one limit that a request holds. */
export interface Holding {
  /** Applies operations where they are held: in the limiter's store, or in its local fallback. */
  readonly apply: Apply
  /** By what they are released: their `resetAtMs` changes with each renewal. */
  units: Refund
  /** When they were taken or renewed, by `performance.now()`. */
  renewedAtMs: number
  /** The renewal in progress, if any; never rejects. */
  renewing: Promise<void> | undefined
  /** Resolves when the outcome of a renewal that timed out is known; `undefined` if there is none. */
  doubt: Promise<void> | undefined
  /** Whether they are renewed: not once the client of their request has left. */
  isRenewed: boolean
}

/** Renewals begin at this share of a ttl, and are tried again at each tick, until the ttl is over. */
const RENEWAL_SHARE = 1 / 8
/** Those in doubt come later: done twice, a renewal counts its units once more for a ttl. */
const DOUBTFUL_SHARE = 1 / 2
/** The store has freed units that are older. */
const LONGEST_SHARE = 9 / 8

/** Returns how long ago units were taken or renewed, in ttls. */
function ageOf({ units, renewedAtMs }: Holding, nowMs: number): number {
  return (nowMs - renewedAtMs) / (units.policy.ttlMs as number)
}

/** Returns whether units have to be renewed now. */
export function isDue(holding: Holding, nowMs: number): boolean {
  const { isRenewed, renewing, doubt } = holding
  const dueShare = doubt === undefined ? RENEWAL_SHARE : DOUBTFUL_SHARE
  return isRenewed && renewing === undefined && ageOf(holding, nowMs) >= dueShare
}

/** Returns whether the store has freed units that are no longer renewed. */
export function isForgotten(holding: Holding, nowMs: number): boolean {
  return !holding.isRenewed && ageOf(holding, nowMs) > LONGEST_SHARE
}

/** Renews units of one key and slice. After a failure they stay due. */
export function renew(
  holdings: readonly Holding[],
  nowMs: number,
  onFailed: (error: StoreError) => void,
): void {
  const renewing = sendRenewal(holdings, nowMs, onFailed).then(() => {
    for (const holding of holdings) holding.renewing = undefined
  })
  for (const holding of holdings) holding.renewing = renewing
}

async function sendRenewal(
  holdings: readonly Holding[],
  nowMs: number,
  onFailed: (error: StoreError) => void,
): Promise<void> {
  const { apply, units } = holdings[0] as Holding
  const cost = holdings.reduce((sum, holding) => sum + holding.units.cost, 0)
  let endDoubt: () => void = () => {}
  const doubt = new Promise<void>((resolve) => {
    endDoubt = resolve
  })
  const doubtIs = (next: Holding['doubt']) => {
    for (const holding of holdings) holding.doubt = next
  }
  try {
    const renewal = { ...units, type: 'renew', cost } as const
    const renewed = await apply(renewal, (outcome) => {
      if (!(outcome instanceof Error)) moveTo(outcome, holdings, nowMs)
      doubtIs(undefined)
      endDoubt()
    })
    moveTo(renewed, holdings, nowMs)
    doubtIs(undefined)
  } catch (error) {
    if (isTimeout(error)) doubtIs(doubt)
    if (!(error instanceof CircuitOpenError)) onFailed(error as StoreError)
  }
}

/** Records where a renewal has put units, unless a later one has moved them on. */
function moveTo({ resetAtMs }: RenewResult, holdings: readonly Holding[], renewedAtMs: number): void {
  for (const holding of holdings) {
    if (holding.renewedAtMs >= renewedAtMs) continue
    holding.units = { ...holding.units, resetAtMs }
    holding.renewedAtMs = renewedAtMs
  }
}
