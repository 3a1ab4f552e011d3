import { warnOnce } from '../../util/warn-once.js'
import type { ChargeResult, Part, Refund } from '../operation.js'
import { messageOf } from '../store-error.js'

/** Returns a refund for each part of an allowed charge, with the time at which that part was taken. */
export function refundsOf(charged: readonly Part[], { atMs, parts }: ChargeResult): Refund[] {
  return charged.map(({ key, policy, cost }, i) => {
    const { resetAfterMs = 0, unitsAfterMs = resetAfterMs, atMs: takenAtMs = atMs } = parts[i] ?? {}
    return { type: 'refund', key, policy, cost, takenAtMs, resetAtMs: takenAtMs + unitsAfterMs }
  })
}

/** Warns the operator, once, that the units of a denied charge could not be refunded. */
export function warnRefundFailed(reason: unknown): void {
  warnOnce(
    'HEADGATE_REFUND_FAILED_IN_STORE',
    `headgate: units of a denied charge could not be refunded, and stay taken (${messageOf(reason)}).`,
  )
}
