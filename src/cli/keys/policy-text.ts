import type { Policy } from '../../policies/policy.js'
import { durationText } from '../../util/durations.js'
import { count } from '../output.js'

/**
 * Returns what a key says of a policy in words, such as `100 in 1m (token-bucket), with bans`: not the rules
 * of the bans, and not the limit of `concurrency`.
 */
export function policyText({ spec: { kind }, limit, windowMs }: Policy, isBan: boolean): string {
  if (kind === 'concurrency') return kind
  const name = kind === 'first-request-window' ? 'first-request' : kind // as replay calls it
  const span = kind === 'consecutive' ? 'in a row' : `in ${durationText(Math.max(1, Math.round(windowMs)))}`
  return `${count(limit)} ${span} (${name})${isBan ? ', with bans' : ''}`
}
