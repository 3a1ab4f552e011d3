import { isPolicy } from '../policies/policy.js'
import type { PolicySpec } from '../policies/spec.js'
import type { Mode } from './access-rules.js'
import { type Entry, namesOf } from './read-limits.js'
import type { LimiterSettings } from './read-options.js'
import type { SettingsOverride } from './settings-document.js'
import type { AppliedSettings, SettingsInForce } from './settings-source.js'

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

/** Describes the rules of a limiter. `inForce` is its document; `undefined` until there is one. */
export function describeRules(
  { context, entries, candidate, modeSwitch, lists }: LimiterSettings,
  inForce: SettingsInForce | undefined,
): LimiterDescription {
  const { name } = context
  const changed = inForce?.limitNames ?? []

  function describeLimits(limits: readonly Entry[], origin: (limitName: string) => RuleOrigin) {
    return limits.map((entry): DescribedLimit => {
      const limitName = namesOf([entry], name)?.[0] ?? ''
      const policy = isPolicy(entry.policy) ? entry.policy.spec : undefined
      return { name: limitName, policy, from: origin(limitName) }
    })
  }

  const candidateEntries = inForce?.candidate ?? candidate
  const candidateOrigin = inForce?.candidate === undefined ? 'code' : 'settings'
  return {
    name,
    mode: { value: modeSwitch.mode, from: inForce?.mode === undefined ? 'code' : 'settings' },
    limits: describeLimits(inForce?.entries ?? entries, (each) =>
      changed.includes(each) ? 'settings' : 'code',
    ),
    ...(candidateEntries && { candidate: describeLimits(candidateEntries, () => candidateOrigin) }),
    ...lists,
    overrides: (inForce?.overrides ?? []) as readonly SettingsOverride[],
    ...(inForce && { settings: inForce.applied }),
  }
}
