import type { DescribedLimit } from '../../limiter/description.js'
import type {
  ChangedPart,
  LimitSettings,
  SettingsChange,
  SettingsOverride,
} from '../../limiter/settings-document.js'
import { policyFromSpec } from '../../policies/policy-from-spec.js'
import { durationMs } from '../../util/durations.js'

/** What a change means for those that it is about: fewer of their requests are allowed, or more. */
export type ChangeEffect = 'stricter' | 'looser'

interface Numbers {
  readonly limit: number
  readonly windowMs: number
}

/**
 * Returns whether a change of settings made limits stricter or looser, for all clients or for some; `undefined` if it
 * did both or neither, or if the numbers cannot be compared. Blocks are no limits.
 */
export function effectOf(
  { parts = [] }: SettingsChange,
  codeLimits: readonly DescribedLimit[],
): ChangeEffect | undefined {
  const numbers = new Map(codeLimits.map(({ name, policy }) => [name, policy && policyFromSpec(policy)]))
  const effects = parts.filter(changesLimits).map((part) => {
    if (part.path === 'mode') return effectOfMode(part)
    const override = (part.after ?? part.before) as SettingsOverride
    if (part.path.startsWith('overrides[')) return effectOfOverride(part, override, numbers)
    const code = numbers.get(part.path.slice('limits.'.length))
    return compare(numbersOf(part.before, code), numbersOf(part.after, code))
  })
  return commonEffect(effects)
}

function changesLimits({ path, before, after }: ChangedPart): boolean {
  if (!path.startsWith('overrides[')) return path === 'mode' || path.startsWith('limits.')
  return !((after ?? before) as SettingsOverride).block
}

function effectOfMode({ before, after }: ChangedPart): ChangeEffect {
  return after === 'report' || (after === undefined && before === 'enforce') ? 'looser' : 'stricter'
}

/** An override replaces the limits that everyone has. */
function effectOfOverride(
  { after }: ChangedPart,
  { exempt, limits = {} }: SettingsOverride,
  code: ReadonlyMap<string, Numbers | undefined>,
): ChangeEffect | undefined {
  if (exempt) return after === undefined ? 'stricter' : 'looser'
  const effects = Object.entries(limits).map(([name, own]) => {
    const [usual, overridden] = [code.get(name), numbersOf(own, code.get(name))]
    return after === undefined ? compare(overridden, usual) : compare(usual, overridden)
  })
  return commonEffect(effects)
}

/** Returns the effect that all have; `undefined` if they differ. */
function commonEffect(effects: readonly (ChangeEffect | undefined)[]): ChangeEffect | undefined {
  const [first] = effects
  return effects.every((effect) => effect === first) ? first : undefined
}

/** Returns the numbers of a limit: those of the code where the settings name no others. */
function numbersOf(settings: unknown, code: Numbers | undefined): Numbers | undefined {
  const { policy, limit, window } = (settings ?? {}) as LimitSettings & {
    readonly limit?: number
    readonly window?: string | number
  }
  if (code === undefined || policy !== undefined) return undefined
  const windowMs = window === undefined ? code.windowMs : durationMs('settings', 'window', window)
  return { limit: limit ?? code.limit, windowMs }
}

function compare(before: Numbers | undefined, after: Numbers | undefined): ChangeEffect | undefined {
  if (before === undefined || after === undefined) return undefined
  const changes = [after.limit - before.limit, before.windowMs - after.windowMs].filter((by) => by !== 0)
  if (changes.length === 0) return undefined
  if (changes.every((by) => by > 0)) return 'looser'
  return changes.every((by) => by < 0) ? 'stricter' : undefined
}
