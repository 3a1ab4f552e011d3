import type { Policy } from '../../policies/policy.js'
import { baseOf } from '../../policies/spec.js'
import { durationText } from '../../util/durations.js'
import { count } from '../output.js'

/** Returns a policy in words, such as `100 in 1m (token-bucket)`. */
export function policyText({ spec, limit, windowMs }: Policy): string {
  const { kind } = baseOf(spec)
  const name = kind === 'first-request-window' ? 'first-request' : kind // as replay calls it
  const figures = `${count(limit)} ${spanOf(kind, windowMs)} (${name})`
  if (spec.kind !== 'ban') return figures
  const { after, withinMs, bansMs } = spec
  const bans = bansMs.map(durationText).join(', ')
  const denials = after === 1 ? '1 denial' : `${count(after)} denials`
  return `${figures}; banned for ${bans} after ${denials} in ${durationText(withinMs)}`
}

function spanOf(kind: string, windowMs: number): string {
  if (kind === 'consecutive') return 'in a row'
  if (kind === 'concurrency') return 'at once'
  return `in ${durationText(Math.max(1, Math.round(windowMs)))}`
}
