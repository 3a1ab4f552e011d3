import { warnRefundFailed } from '../shared/refunds.js'
import type { CounterIo, CountVersion } from './counter-io.js'

/**
 * Refunds the units of denied charges. Resolves with whether a count over the limit has settled: no other
 * process changed the counter between the increment, which returned `version`, and a round trip after the
 * refund. Then the limit was lowered. Otherwise, other processes may be about to refund their increments.
 *
 * No reply tells the two cases apart for certain. If a process takes longer than these two round trips to
 * refund an increment, its units count as used, and the times of a denial may be too late. Whether a charge
 * is allowed does not depend on this.
 */
export async function refundAndWatch(
  { readVersion, subtract }: CounterIo,
  { key, counter, units, version }: { key: string; counter: string; units: number; version: CountVersion },
): Promise<boolean> {
  const tokenNow = () =>
    readVersion(key, counter).then(
      ({ cas }) => cas,
      () => undefined,
    )
  const tokenBefore = tokenNow() // travels ahead of the refund
  const tokenAfter =
    units === 0 ? version.cas : await subtract(key, counter, units).catch((error) => warnRefundFailed(error))
  if (!tokenAfter || (await tokenBefore) !== version.cas) return false
  return (await tokenNow()) === tokenAfter
}
