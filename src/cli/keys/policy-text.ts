import type { Policy } from '../../policies/policy.js'
import type { PolicySpec } from '../../policies/spec.js'
import { durationText } from '../../util/durations.js'
import { count } from '../output.js'

/** Returns a policy in words, such as `100 in 1m (token-bucket), with bans`. */
export function policyText(policy: Policy, isBan: boolean): string {
  const { spec, limit, windowMs } = policy
  return `${count(limit)} ${spanOf(spec, windowMs)} (${nameOf(policy)})${bansText(isBan)}`
}

/** Returns the kind of a policy in words, such as `token-bucket, with bans`. */
export function kindText(policy: Policy, isBan: boolean): string {
  return nameOf(policy) + bansText(isBan)
}

function nameOf({ spec: { kind } }: Policy): string {
  return kind === 'first-request-window' ? 'first-request' : kind // as replay calls it
}

function bansText(isBan: boolean): string {
  return isBan ? ', with bans' : ''
}

function spanOf(spec: PolicySpec, windowMs: number): string {
  const { kind } = spec
  if (kind === 'consecutive') return 'in a row'
  if (kind === 'concurrency') return 'at once'
  if (kind === 'quota') return `per ${spec.per}`
  return `in ${durationText(Math.max(1, Math.round(windowMs)))}`
}
