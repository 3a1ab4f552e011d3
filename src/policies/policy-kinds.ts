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
import type { PolicySpec } from './spec.js'
import { tokenBucketOf } from './token-bucket.js'

/** Returns the policy of a spec. Throws a `TypeError` if the spec is not valid. */
export type PolicyOfSpec = (spec: PolicySpec) => Policy

/**
 * The code of one kind of policy. With it, a process creates a policy from the numbers that another process
 * has sent. Bundlers leave out unused kinds.
 */
export interface PolicyKind {
  /**
   * Returns the policy of a spec, or `undefined` for another kind. Throws a `TypeError` for wrong numbers.
   */
  readonly policyOf: (spec: PolicySpec, policyOfBase: PolicyOfSpec) => Policy | undefined
}

/** The kind of `tokenBucket`, and of limits without a policy. */
export const tokenBucketKind: PolicyKind = {
  policyOf: (spec) =>
    spec.kind === 'token-bucket'
      ? tokenBucketOf(spec.capacity, spec.intervalMs, rulesOfSpec(spec))
      : undefined,
}

/** The kind of `slidingWindow`. */
export const slidingWindowKind: PolicyKind = {
  policyOf(spec) {
    if (spec.kind !== 'sliding-window') return undefined
    const { limit, windowMs, slices = Number.NaN } = spec // a default would change the spec
    return slidingWindow({ limit, window: `${windowMs}ms`, slices, ...rulesOfSpec(spec) })
  },
}

/** The kind of `fixedWindow`, with windows by the clock or from the first request. */
export const fixedWindowKind: PolicyKind = {
  policyOf(spec) {
    if (spec.kind !== 'fixed-window' && spec.kind !== 'first-request-window') return undefined
    const { limit, windowMs, kind } = spec
    const startsAt = kind === 'first-request-window' && ({ startsAt: 'first-request' } as const)
    return fixedWindow({ limit, window: `${windowMs}ms`, ...startsAt, ...rulesOfSpec(spec) })
  },
}

/** The kind of `quota`. */
export const quotaKind: PolicyKind = {
  policyOf(spec) {
    if (spec.kind !== 'quota') return undefined
    const { kind: _, ...options } = spec
    return quota(options as QuotaOptions) // checks them
  },
}

/** The kind of `slidingLog`. */
export const slidingLogKind: PolicyKind = {
  policyOf(spec) {
    if (spec.kind !== 'sliding-log') return undefined
    return slidingLog({
      limit: spec.limit,
      window: `${spec.windowMs}ms`,
      onChange: rulesOfSpec(spec).onChange,
    })
  },
}

/** The kind of `consecutive`. */
export const consecutiveKind: PolicyKind = {
  policyOf: (spec) =>
    spec.kind === 'consecutive'
      ? consecutive({ limit: spec.limit, onChange: rulesOfSpec(spec).onChange })
      : undefined,
}

/** The kind of `concurrency`. */
export const concurrencyKind: PolicyKind = {
  policyOf: (spec) =>
    spec.kind === 'concurrency'
      ? concurrencyPolicy({ limit: spec.limit, ttl: `${spec.ttlMs}ms` })
      : undefined,
}

/** The kind of `ban`. It needs the kind of the policy whose denials it counts. */
export const banKind: PolicyKind = {
  policyOf(spec, policyOfBase) {
    if (spec.kind !== 'ban') return undefined
    const { base, after, withinMs, bansMs, onAttempt } = spec
    const rules = { within: `${withinMs}ms`, for: bansMs.map((banMs) => `${banMs}ms`), onAttempt }
    const policy = ban(policyOfBase(base), { ...rules, after: after === 0 ? 1 : after })
    return after === 0 ? (policy.uncounted ?? policy) : policy
  },
}

/** Returns the policy of a spec whose kind is one of `kinds`, or `undefined` if it is none of them. */
export function policyOfKinds(
  kinds: readonly PolicyKind[],
  spec: PolicySpec,
  policyOfBase: PolicyOfSpec,
): Policy | undefined {
  for (const { policyOf } of kinds) {
    const policy = policyOf(spec, policyOfBase)
    if (policy !== undefined) return policy
  }
  return undefined
}

/** Returns the options for debts and changes in a spec, with their defaults. */
function rulesOfSpec({ debt = 0, onChange = 'keep' }: Partial<ChangeRules>): ChangeRules {
  return { debt, onChange }
}
