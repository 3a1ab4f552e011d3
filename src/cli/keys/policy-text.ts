import type { Policy } from '../../policies/policy.js'
import { durationText } from '../../util/durations.js'
import { count } from '../output.js'

/** In the params of a ban, where its own begin. */
const BAN_PARAMS = 3

/** Returns a policy in words, such as `100 in 1m (token-bucket)`. */
export function policyText({ kind, limit, windowMs, params }: Policy): string {
  const base = kind.replace(/^ban-/, '')
  const name = base === 'first-request-window' ? 'first-request' : base // as replay calls it
  const figures = `${count(limit)} ${spanOf(base, windowMs)} (${name})`
  if (base === kind) return figures
  const [after = 0, withinMs = 0, , ...bansMs] = params.slice(BAN_PARAMS)
  const bans = bansMs.map(durationText).join(', ')
  const denials = after === 1 ? '1 denial' : `${count(after)} denials`
  return `${figures}; banned for ${bans} after ${denials} in ${durationText(withinMs)}`
}

function spanOf(kind: string, windowMs: number): string {
  if (kind === 'consecutive') return 'in a row'
  if (kind === 'concurrency') return 'at once'
  return `in ${durationText(Math.max(1, Math.round(windowMs)))}`
}
