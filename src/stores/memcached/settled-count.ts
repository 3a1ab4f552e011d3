import { warnRefundFailed } from '../shared/refunds.js'
import type { CounterIo, CountVersion } from './counter-io.js'

/**
 * Refunds the units of denied charges. Resolves with whether a count over the limit has settled: no one else
 * changed the counter from the increment, which returned `version`, until a round trip after the refund. Then
 * the limit was lowered. Otherwise, others' increments may be about to be refunded.
 *
 * No reply tells the two apart for certain. An increment whose process takes longer than these two round trips
 * to refund it is taken for use, so that a denial's times may be late by its units. Whether a charge is
 * allowed depends on neither.
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
