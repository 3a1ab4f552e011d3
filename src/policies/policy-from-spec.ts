import { wrongOption } from '../util/validate.js'
import { ban } from './ban.js'
import type { ChangeRules } from './change-options.js'
import { concurrencyPolicy } from './concurrency.js'
import { consecutive } from './consecutive.js'
import { fixedWindow } from './fixed-window.js'
import type { Policy } from './policy.js'
import { quota } from './quota.js'
import type { QuotaOptions } from './quota-options.js'
import { slidingLog } from './sliding-log.js'
import { slidingWindow } from './sliding-window.js'
import { FIELDS, type PolicySpec } from './spec.js'
import { tokenBucketOf } from './token-bucket.js'

/**
 * Returns the policy of a spec, under a name made from its numbers. Throws a `TypeError` for an
 * unknown kind, and for numbers that no policy of the kind has.
 */
export function policyFromSpec(spec: PolicySpec): Policy {
  switch (spec.kind) {
    case 'token-bucket':
      return tokenBucketOf(spec.capacity, spec.intervalMs, rulesOfSpec(spec))
    case 'sliding-window': {
      const { limit, windowMs, slices = Number.NaN } = spec // a default would change what was written
      return slidingWindow({ limit, window: `${windowMs}ms`, slices, ...rulesOfSpec(spec) })
    }
    case 'fixed-window':
      return fixedWindow({ limit: spec.limit, window: `${spec.windowMs}ms`, ...rulesOfSpec(spec) })
    case 'first-request-window':
      return fixedWindow({
        limit: spec.limit,
        window: `${spec.windowMs}ms`,
        startsAt: 'first-request',
        ...rulesOfSpec(spec),
      })
    case 'quota': {
      const { kind: _, ...options } = spec
      return quota(options as QuotaOptions) // which are checked
    }
    case 'sliding-log':
      return slidingLog({
        limit: spec.limit,
        window: `${spec.windowMs}ms`,
        onChange: rulesOfSpec(spec).onChange,
      })
    case 'consecutive':
      return consecutive({ limit: spec.limit, onChange: rulesOfSpec(spec).onChange })
    case 'concurrency':
      return concurrencyPolicy({ limit: spec.limit, ttl: `${spec.ttlMs}ms` })
    case 'ban': {
      const { base, after, withinMs, bansMs, onAttempt } = spec
      const rules = { within: `${withinMs}ms`, for: bansMs.map((banMs) => `${banMs}ms`), onAttempt }
      const policy = ban(policyFromSpec(base), { ...rules, after: after === 0 ? 1 : after })
      return after === 0 ? (policy.uncounted ?? policy) : policy
    }
    default: {
      const { kind }: { readonly kind: unknown } = spec
      const must = `one of ${[...Object.keys(FIELDS), 'ban'].join(', ')}`
      throw wrongOption('policyFromSpec', 'kind', must, kind)
    }
  }
}

/** Returns what a spec says about debts and changes, with its defaults. */
function rulesOfSpec({ debt = 0, onChange = 'keep' }: Partial<ChangeRules>): ChangeRules {
  return { debt, onChange }
}
