import type { Charge, PartVerdict, Refund, Verdict } from './store.js'

/** What gives back all that a charge took by a verdict, part by part. */
export function refundsOf(charge: Charge, { atMs, parts }: Verdict): Refund[] {
  return charge.map(({ key, policy, cost }, i) => {
    const { resetAfterMs } = parts[i] as PartVerdict
    return { key, policy, cost, takenAtMs: atMs, resetAtMs: atMs + resetAfterMs }
  })
}
