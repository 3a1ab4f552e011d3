import { groupBy } from '../util/group-by.js'
import { findNearest, showName, wrongUse } from '../util/validate.js'
import type { Fields } from '../util/values.js'

/**
 * What to write in place of options that a factory does not have: the name of an option that takes the same
 * value, or a sentence, which may repeat the value.
 */
export type Fixes = Readonly<Record<string, string | ((value: unknown) => string)>>

/** Options that the factory does not have, and that have one fix. */
export interface UnknownOptions {
  readonly error: TypeError
  /** Options of the factory that the fix mentions: they were misnamed, not left out. */
  readonly meant: readonly string[]
}

/** How many unknown options are described at most. An object meant for something else may have thousands. */
const MAX_DESCRIBED = 10

/** Describes the options that are none of `optionNames`. An option that is `undefined` was left out. */
export function describeUnknown(
  owner: string,
  given: Fields,
  optionNames: readonly string[],
  fixes: Fixes,
): UnknownOptions[] {
  const unknown = Object.entries(given)
    .filter(([name, value]) => !optionNames.includes(name) && value !== undefined)
    .map(([name]) => name)
  const described = unknown.slice(0, MAX_DESCRIBED)
  const others = unknown.length - described.length
  const byFix = groupBy(described, (name) => fixFor(name, given[name], optionNames, fixes))
  return Array.from(byFix, ([fix, names]) => {
    const more = others > 0 && names.includes(described.at(-1) as string) ? ` and ${others} more` : ''
    const listed = names.map(showName).join(' and ') + more
    const problem = names.length === 1 ? `there is no option ${listed}` : `there are no options ${listed}`
    const [, ...words] = /^(?:Write|Did you mean) (\w+)(?: and (\w+))?/.exec(fix) ?? []
    return {
      error: wrongUse(owner, problem, fix),
      meant: optionNames.filter((name) => words.includes(name)),
    }
  })
}

/** Returns the sentence that says what to write. A fix may name an option that has a fix itself. */
function fixFor(name: string, value: unknown, optionNames: readonly string[], fixes: Fixes): string {
  const fix = Object.hasOwn(fixes, name) ? fixes[name] : undefined
  if (fix !== undefined) {
    if (typeof fix === 'function') return fix(value)
    if (!/^\w+$/.test(fix)) return fix
    return optionNames.includes(fix) ? `Write ${fix} instead.` : fixFor(fix, value, optionNames, fixes)
  }
  const near = findNearest(name, optionNames)
  return near === undefined ? `Known options: ${optionNames.join(', ')}.` : `Did you mean ${near}?`
}
