import { isPolicy } from '../policies/policy.js'
import type { PolicySpec } from '../policies/spec.js'
import type { Mode } from './access-rules.js'
import { type Entry, namesOf } from './read-limits.js'
import type { LimiterSettings } from './read-options.js'
import type { SettingsOverride } from './settings-document.js'
import type { AppliedSettings } from './settings-source.js'

/**
 * Where a rule comes from: the options of the limiter (`'code'`), or the document that it follows
 * (`'settings'`).
 */
export type RuleOrigin = 'code' | 'settings'

/** A limit that is in force for subjects without an override. */
export interface DescribedLimit {
  readonly name: string
  /** The algorithm and its numbers, or `undefined` if a function returns the policy. */
  readonly policy: PolicySpec | undefined
  readonly from: RuleOrigin
}

/** The rules of a limiter in this process, and the origin of each. */
export interface LimiterDescription {
  readonly name: string | undefined
  readonly mode: { readonly value: Mode; readonly from: RuleOrigin }
  readonly limits: readonly DescribedLimit[]
  /** The limits of the candidate. Absent if there is none. */
  readonly candidate?: readonly DescribedLimit[]
  /** The numbers of an overload guard, which finds its limit between two. Absent for other limiters. */
  readonly overload?: {
    readonly minLimit: number
    readonly maxLimit: number
    readonly maxWaitMs: number
  }
  /** The options `allow` and `block`, which take precedence over all overrides. */
  readonly allow: readonly string[]
  readonly block: readonly string[]
  /** The overrides of the document, including those that have ended since it was read. */
  readonly overrides: readonly SettingsOverride[]
  /**
   * The document in force: its version, and who changed it last, when and why. Absent until there is one.
   */
  readonly settings?: AppliedSettings
}

/** Describes the rules in the options of a limiter. */
export function describeRules({
  context,
  entries,
  candidate,
  modeSwitch,
  lists,
}: LimiterSettings): LimiterDescription {
  const describe = (limits: readonly Entry[]) => describeLimits(limits, context.name, () => 'code')
  return {
    name: context.name,
    mode: { value: modeSwitch.mode, from: 'code' },
    limits: describe(entries),
    ...(candidate && { candidate: describe(candidate) }),
    ...lists,
    overrides: [],
  }
}

/** Describes limits of a limiter. `originOf` returns the origin of the limit with a name. */
export function describeLimits(
  limits: readonly Entry[],
  limiterName: string | undefined,
  originOf: (limitName: string) => RuleOrigin,
): readonly DescribedLimit[] {
  return limits.map((entry) => {
    const name = namesOf([entry], limiterName)?.[0] ?? ''
    const policy = isPolicy(entry.policy) ? entry.policy.spec : undefined
    return { name, policy, from: originOf(name) }
  })
}
