import type { Mode } from '../limiter/access-rules.js'
import { describeLimits, type LimiterDescription } from '../limiter/description.js'
import type { Entry } from '../limiter/read-limits.js'
import type { SettingsOverride } from '../limiter/settings-document.js'
import type { AppliedSettings } from '../limiter/settings-source.js'

/** The rules of a document, for `limiter.describe`. */
export interface RulesInForce {
  readonly applied: AppliedSettings
  readonly mode: Mode | undefined
  /** The names of the limits in the document. */
  readonly limitNames: readonly string[]
  readonly entries: readonly Entry[]
  /** The limits of the document's candidate; `undefined` if it has none. */
  readonly candidate: readonly Entry[] | undefined
  readonly overrides: readonly SettingsOverride[] | undefined
}

/** Returns a description of the rules in the code with those of the document in force. */
export function describeInForce(
  description: LimiterDescription,
  { applied, mode, limitNames, entries, candidate, overrides = [] }: RulesInForce,
): LimiterDescription {
  const { name } = description
  return {
    ...description,
    mode: { value: description.mode.value, from: mode === undefined ? 'code' : 'settings' },
    limits: describeLimits(entries, name, (each) => (limitNames.includes(each) ? 'settings' : 'code')),
    ...(candidate && { candidate: describeLimits(candidate, name, () => 'settings') }),
    overrides,
    settings: applied,
  }
}
