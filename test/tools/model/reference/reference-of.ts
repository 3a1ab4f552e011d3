import type { PolicySpec } from '../../../../src/policies/spec.js'
import { banned } from './banned.js'
import { bucket } from './bucket.js'
import { inFlight } from './in-flight.js'
import { log } from './log.js'
import type { Reference } from './reference.js'
import { sliding } from './sliding.js'
import { clockWindow, firstRequestWindow, outstanding } from './windows.js'

/** A reference whose state only it can read. */
export type AnyReference = Reference<unknown>

/** Returns the reference of a policy, by the data in which the policy states its algorithm and numbers. */
export function referenceOf(spec: PolicySpec): AnyReference {
  return make(spec) as AnyReference
}

function make(spec: PolicySpec): unknown {
  switch (spec.kind) {
    case 'token-bucket':
      return bucket(spec.capacity, spec.intervalMs)
    case 'sliding-window':
      return sliding(spec.limit, spec.windowMs, spec.slices)
    case 'fixed-window':
      return clockWindow(spec.limit, spec.windowMs)
    case 'first-request-window':
      return firstRequestWindow(spec.limit, spec.windowMs)
    case 'quota':
      if (spec.per !== 'day' || spec.timeZone !== 'UTC') throw new Error('only days in UTC have a reference')
      return clockWindow(spec.limit, 86_400_000)
    case 'sliding-log':
      return log(spec.limit, spec.windowMs)
    case 'consecutive':
      return outstanding(spec.limit)
    case 'concurrency':
      return inFlight(spec.limit, spec.ttlMs)
    case 'ban':
      return banned(referenceOf(spec.base), spec)
  }
}
