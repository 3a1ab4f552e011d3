import { durationMs } from '../util/durations.js'
import { adjustDecision } from './adjust-decision.js'
import type { AdjustmentOptions, Adjustments } from './adjustments.js'
import { bansAmong, changeParts, forgetParts, withParts } from './change-parts.js'
import { checkDecision } from './decision.js'
import { requirePartsOf } from './inspection.js'
import type { MiddlewareLimiter } from './limiter.js'
import type { LimiterParts } from './limiter-methods.js'
import { readNames } from './named-limits.js'
import { checkedCost } from './read-limits.js'
import { changeBoth, refundDecision } from './refund-decision.js'

/**
 * Returns the functions that change what a limiter has counted, like the methods of a limiter from
 * `createLimiter`. It also takes the limiter of a middleware, which has no such methods. Every call with a
 * limiter returns the same object.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { adjustments, rateLimit } from 'headgate'
 *
 * const app = express()
 * const api = rateLimit({ limit: 100, window: '1m' })
 * app.post('/captcha', async (req, res) => {
 *   await adjustments(api.limiter).reward(req, 10)
 *   res.sendStatus(204)
 * })
 * ```
 */
export function adjustments<Subject>(limiter: MiddlewareLimiter<Subject>): Adjustments<Subject> {
  return adjustmentsOf(requirePartsOf<Subject>('adjustments', limiter))
}

/** Returns the adjustments of a limiter. The first call creates them. */
export function adjustmentsOf<Subject>(parts: LimiterParts<Subject>): Adjustments<Subject> {
  parts.adjustments ??= createAdjustments(parts)
  return parts.adjustments
}

function createAdjustments<Subject>(parts: LimiterParts<Subject>): Adjustments<Subject> {
  const { owner, core } = parts
  const namesIn = (options: AdjustmentOptions | undefined) => readNames(owner, options, core.limitNames)

  function changeUnits(type: 'take' | 'reward'): Adjustments<Subject>['penalize'] {
    return async (subject, units, options) => {
      const change = { type, units: checkedCost(owner, 'units', units) }
      const names = namesIn(options)
      return changeBoth(parts, subject, names, (changed, counted) =>
        withParts(changed, counted, names, (found) => changeParts(changed, found, change)),
      )
    }
  }

  return {
    async refund(decision, options) {
      checkDecision(owner, decision)
      return refundDecision(parts, decision, namesIn(options))
    },
    async forget(subject, options) {
      const names = namesIn(options)
      return changeBoth(parts, subject, names, (changed, counted) =>
        withParts(changed, counted, names, (found) => forgetParts(changed, found)),
      )
    },
    penalize: changeUnits('take'),
    reward: changeUnits('reward'),
    async blockFor(subject, duration, options) {
      const forMs = durationMs(owner, 'duration', duration)
      return withParts(core, subject, namesIn(options), (found) =>
        changeParts(core, bansAmong(owner, found, forMs), { type: 'block', forMs }),
      )
    },
    async adjust(decision, actualCost, options) {
      checkDecision(owner, decision)
      const names = namesIn(options)
      return adjustDecision(parts, decision, checkedCost(owner, 'actualCost', actualCost), names)
    },
  }
}
