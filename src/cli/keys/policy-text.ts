import type { Policy } from '../../policies/policy.js'
import { durationText } from '../../util/durations.js'
import { count } from '../output.js'

/**
 * Returns what a key says of a policy in words, such as `100 in 1m (token-bucket), with bans`: not the rules
 * of the bans, and not the limit of `concurrency`. `kind` is that of the key, if it differs.
 */
export function policyText({ spec, limit, windowMs }: Policy, isBan: boolean, kind = spec.kind): string {
  if (kind === 'concurrency') return kind
  const name = kind === 'first-request-window' ? 'first-request' : kind // as replay calls it
  return `${count(limit)} ${spanOf(kind, windowMs)} (${name})${isBan ? ', with bans' : ''}`
}

function spanOf(kind: string, windowMs: number): string {
  if (kind === 'consecutive') return 'in a row'
  if (kind === 'quota') return `per ${periodOf(windowMs / 86_400_000)}`
  return `in ${durationText(Math.max(1, Math.round(windowMs)))}`
}

/** Returns which period of a calendar lasts so many days. */
function periodOf(days: number): string {
  if (days > 32) return 'year'
  if (days > 8) return 'month'
  return days > 2 ? 'week' : 'day'
}
