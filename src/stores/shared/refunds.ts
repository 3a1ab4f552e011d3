import { warnOnce } from '../../util/warn-once.js'
import type { Charge, PartVerdict, Refund, Verdict } from '../store.js'
import { messageOf } from '../store-error.js'

/** Returns a refund for each part of an allowed charge, with the time at which that part was taken. */
export function refundsOf(charge: Charge, { atMs, parts }: Verdict): Refund[] {
  return charge.map(({ key, policy, cost }, i) => {
    const { resetAfterMs, atMs: takenAtMs = atMs } = parts[i] as PartVerdict
    return { key, policy, cost, takenAtMs, resetAtMs: takenAtMs + resetAfterMs }
  })
}

/** Warns the operator, once, that the units of a denied charge could not be refunded. */
export function warnRefundFailed(reason: unknown): void {
  warnOnce(
    'HEADGATE_REFUND_FAILED_IN_STORE',
    `headgate: units of a denied charge could not be refunded, and stay taken (${messageOf(reason)}).`,
  )
}
