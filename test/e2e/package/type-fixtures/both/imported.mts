// An ES module beside a CommonJS module in one project: the types of both are the same.
import * as expressRateLimit from 'headgate/express-rate-limit'
import * as headgate from 'headgate/http'
import type * as nest from 'headgate/nest'
import * as required from './required.cjs'

/** Whether each of two types is the other, including the private members of classes. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

export const same: [
  Same<headgate.Decision, required.headgate.Decision>,
  Same<headgate.StoreError, required.headgate.StoreError>,
  Same<headgate.MemoryStore, required.headgate.MemoryStore>,
  Same<headgate.Limiter<string>, required.headgate.Limiter<string>>,
  Same<nest.RateLimiters, required.nest.RateLimiters>,
  Same<expressRateLimit.MemoryStore, required.expressRateLimit.MemoryStore>,
  Same<typeof expressRateLimit.default, typeof required.expressRateLimit.default>,
] = [true, true, true, true, true, true, true]

export const leased: headgate.Store = headgate.leased(required.store)
export const decision: headgate.Decision = await required.limiter.charge('ada')
export const counts: expressRateLimit.MemoryStore = required.counts
export const limit = expressRateLimit.default({ store: required.counts })
