import type { Policy } from '../policies/policy.js'
import { type BaseSpec, baseOf } from '../policies/spec.js'
import type { ClientDemand, LimitDemand } from './client-demand.js'
import { isMeasured, peakAtRate } from './demand-curve.js'

/** Whether other numbers would have denied a client at least once. */
export interface WouldDeny {
  readonly denies: boolean
  /** Set if this comes from an upper bound: perhaps it would not have been denied. */
  readonly isBound?: true
}

/** Judges the clients of a limit by other numbers. */
export type Judge = (client: ClientDemand) => WouldDeny

/** Returns how a policy would have judged what clients demanded of a limit, or why that is not known. */
export function judgeOf({ policy: counted }: LimitDemand, { spec }: Pick<Policy, 'spec'>): Judge | string {
  const after = baseOf(spec)
  if (counted === undefined || counted.kind !== after.kind)
    return 'What another policy would have done is not known.'
  if (counted.kind === 'token-bucket' && after.kind === 'token-bucket') return judgeOfBucket(counted, after)
  if (windowsOf(counted) !== windowsOf(after as BaseSpec))
    return 'What clients asked for is known only for the window in force.'
  return judgeOfLimit(limitOf(counted), limitOf(after as BaseSpec), ({ peak }) => peak)
}

type BucketSpec = Extract<BaseSpec, { kind: 'token-bucket' }>

function judgeOfBucket(counted: BucketSpec, after: BucketSpec): Judge {
  const rate = counted.intervalMs / after.intervalMs
  const peakOf = ({ peak, peaks }: ClientDemand) => (peaks === undefined ? peak : peakAtRate(peaks, rate))
  const [isSlower, isFaster] = [rate < 1, rate > 1]
  // Of two buckets, the one with both the larger capacity and the faster refill denies no more.
  const isWider = after.capacity >= counted.capacity && !isSlower
  const isNarrower = after.capacity <= counted.capacity && !isFaster
  const judge = judgeBy(after.capacity, isWider, isNarrower, peakOf)
  return (client) => {
    const { denies } = judge(client)
    const isCertain =
      !denies || isMeasured(client.peaks ?? [client.peak], rate) || (isNarrower && client.wasDenied)
    return isCertain ? { denies } : { denies, isBound: true }
  }
}

function judgeOfLimit(before: number, after: number, peakOf: (client: ClientDemand) => number): Judge {
  return judgeBy(after, after >= before, after <= before, peakOf)
}

/**
 * Judges by peaks. Whether the limit in force denied a client says more than its peak, which ignores refunds:
 * a wider limit denies no other clients, and a narrower one denies all of them.
 */
function judgeBy(
  limit: number,
  isWider: boolean,
  isNarrower: boolean,
  peakOf: (client: ClientDemand) => number,
): Judge {
  return (client) => {
    if (isNarrower && client.wasDenied) return { denies: true }
    if (isWider && !client.wasDenied) return { denies: false }
    return { denies: peakOf(client) > limit }
  }
}

function limitOf(spec: BaseSpec): number {
  return spec.kind === 'token-bucket' ? spec.capacity : spec.limit
}

/** Returns what says when the units of a policy come back. */
function windowsOf(spec: BaseSpec): string {
  const {
    limit: _limit,
    debt: _debt,
    onChange: _onChange,
    ...windows
  } = spec as Extract<BaseSpec, { debt?: number }> & {
    limit?: number
  }
  return JSON.stringify(Object.entries(windows).sort(([a], [b]) => (a < b ? -1 : 1)))
}
