import type { Policy, State } from '../../../policies/policy.js'
import { baseOf } from '../../../policies/spec.js'
import type { Refund } from '../../../stores/operation.js'
import type { Curve } from '../../../tuning/demand-curve.js'
import { bucketMeter } from './bucket-meter.js'
import { logMeter } from './log-meter.js'
import { sliceMeter } from './slice-meter.js'
import { windowMeter } from './window-meter.js'

/** What a meter keeps of a client. */
export interface Metered {
  /** What would be in use if nothing had been denied. `undefined` if nothing is. */
  state: State | undefined
  /** The most that was, in the meter's own unit. */
  peaks: number[]
}

/** Units that came back from a charge, as a refund says it. */
export type UnitsBack = Pick<Refund, 'cost' | 'takenAtMs' | 'resetAtMs'>

/** Measures, in the terms of a policy, what clients would use if nothing were denied. */
export interface Meter {
  /** How many numbers it keeps of a client, at most. */
  readonly width: number
  /** Counts units. A clock that steps back grants nothing. */
  add(client: Metered, atMs: number, units: number): void
  /** Takes units off what is in use: as many as the policy gives back, or fewer. Peaks stay. */
  refund(client: Metered, nowMs: number, back: UnitsBack): void
  /** Returns the most that was in use since the last call, in units, rounded up. What is still in use goes on. */
  take(client: Metered, nowMs: number): Curve
}

/** Returns the meter for a policy; `undefined` if time does not bring its units back. */
export function meterOf({ spec }: Pick<Policy, 'spec'>): Meter | undefined {
  const base = baseOf(spec) // a ban denies nothing before its policy does
  switch (base.kind) {
    case 'token-bucket':
      return bucketMeter(base.intervalMs)
    case 'sliding-log':
      return logMeter(base.windowMs)
    case 'sliding-window':
      return sliceMeter(base.windowMs, base.slices)
    case 'consecutive':
    case 'concurrency':
      return undefined
    default:
      return windowMeter(base)
  }
}
