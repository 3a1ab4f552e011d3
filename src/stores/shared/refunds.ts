import type { Charge, PartVerdict, Refund, Verdict } from '../store.js'

/** Returns a refund for each part of an allowed charge, with the time at which that part was taken. */
export function refundsOf(charge: Charge, { atMs, parts }: Verdict): Refund[] {
  return charge.map(({ key, policy, cost }, i) => {
    const { resetAfterMs, atMs: takenAtMs = atMs } = parts[i] as PartVerdict
    return { key, policy, cost, takenAtMs, resetAtMs: takenAtMs + resetAfterMs }
  })
}
