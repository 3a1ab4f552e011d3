import type { ChargeResult } from '../../stores/operation.js'
import { refundsOf } from '../../stores/shared/refunds.js'
import type { Store } from '../../stores/store.js'
import { StoreError } from '../../stores/store-error.js'
import { pause } from '../../util/defer.js'
import { applyAll, chargeAll, type Parts } from '../conformance/store-calls.js'
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

/** Charges a batch, and again if the store replied that it took nothing, as after lost races. */
async function chargeDecided(store: Store, charges: readonly Parts[]): Promise<readonly ChargeResult[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await chargeAll(store, charges)
    } catch (error) {
      const tookNothing = error instanceof StoreError && error.replied
      if (!tookNothing || attempt === ATTEMPTS) throw error
      await pause(PAUSE_MS)
    }
  }
}
