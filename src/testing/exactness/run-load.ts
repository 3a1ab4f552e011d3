import type { Charge, ChargeResult } from '../../stores/operation.js'
import { refundsOf } from '../../stores/shared/refunds.js'
import { itemsAt } from '../../stores/shared/run-operations.js'
import type { Store } from '../../stores/store.js'
import { StoreError } from '../../stores/store-error.js'
import { pause } from '../../util/defer.js'
import { applyAll, type Parts, tryAll } from '../conformance/store-calls.js'
import { type Counts, chargeOf, type Load } from './protocol.js'

const ATTEMPTS = 20
const PAUSE_MS = 5

/** Charges a store as a load says. Rejects with the first error of the store. */
export async function runLoad(
  store: Store,
  { charges, callers, calls, batch, refundEvery }: Load,
): Promise<Counts> {
  const all = charges.map(chargeOf)
  const chargeAt = (i: number): Parts => all[i % all.length] ?? []
  const counts = { allowed: 0, denied: 0 }
  const unitsTaken: Record<string, number> = {}

  function count(charge: Parts, sign: 1 | -1): void {
    for (const { key, cost } of charge) unitsTaken[key] = (unitsTaken[key] ?? 0) + sign * cost
  }

  async function call(caller: number): Promise<void> {
    let allowed = 0
    for (let i = 0; i < calls; i++) {
      const wanted = Array.from({ length: batch }, (_, j) => chargeAt(caller + i * batch + j))
      const verdicts = await chargeDecided(store, wanted)
      for (const [j, verdict] of verdicts.entries()) {
        const charge = wanted[j] ?? []
        counts[verdict.allowed ? 'allowed' : 'denied']++
        if (!verdict.allowed) continue
        count(charge, 1)
        if (refundEvery === 0 || ++allowed % refundEvery !== 0) continue
        await applyAll(store, refundsOf(charge, verdict))
        count(charge, -1)
      }
    }
  }

  if (all.length > 0) await Promise.all(Array.from({ length: callers }, (_, i) => call(i)))
  return { ...counts, taken: unitsTaken }
}

/**
 * Charges a batch. A charge that failed and took nothing, as after lost races, is repeated without the
 * others, which count already.
 */
async function chargeDecided(store: Store, charges: readonly Parts[]): Promise<readonly ChargeResult[]> {
  const results: ChargeResult[] = []
  let left = [...charges.keys()]
  for (let attempt = 1; left.length > 0; attempt++) {
    if (attempt > 1) await pause(PAUSE_MS)
    const outcomes = await tryToCharge(store, itemsAt(charges, left))
    const failed: number[] = []
    for (const [i, index] of left.entries()) {
      const outcome = outcomes[i] as ChargeResult | StoreError
      if (!(outcome instanceof StoreError)) results[index] = outcome
      else if (tookNothing(outcome) && attempt < ATTEMPTS) failed.push(index)
      else throw outcome
    }
    left = failed
  }
  return results
}

/** Returns an outcome for each charge, also if the whole batch took nothing. */
async function tryToCharge(store: Store, charges: readonly Parts[]) {
  try {
    return await tryAll<Charge>(
      store,
      charges.map((parts) => ({ type: 'charge', parts })),
    )
  } catch (error) {
    if (!(error instanceof StoreError && tookNothing(error))) throw error
    return charges.map(() => error)
  }
}

const tookNothing = ({ replied, unsent }: StoreError) => replied || unsent
