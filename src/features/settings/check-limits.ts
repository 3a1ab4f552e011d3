import { describeUnknown } from '../../options/fixes.js'
import { throwProblems } from '../../options/problems.js'
import { durationMs } from '../../util/durations.js'
import { keyName, wholeNumber, wrongOption } from '../../util/validate.js'
import { type Fields, isObject } from '../../util/values.js'
import { policyIn } from './limit-settings.js'

const OWNER = 'settings'
/** The most limits that a document may name in one place. A limiter may have as many. */
const MAX_LIMITS = 16
const NUMBERS: readonly string[] = ['limit', 'window', 'policy']
const EXAMPLE = "Write { limit: 200, window: '1m' }."

/** Runs a check, and collects the `TypeError` that it throws. */
export type Check = (run: () => void) => void

/** Checks limits by name. `path` is their place in the document. */
export function checkLimits(check: Check, path: string, limits: unknown): void {
  if (limits === undefined) return
  if (!isObject(limits) || Array.isArray(limits) || Object.keys(limits).length > MAX_LIMITS) {
    const must = `an object of at most ${MAX_LIMITS} limits by name`
    const fix = "Write { api: { limit: 200, window: '1m' } }."
    check(() => {
      throw wrongOption(OWNER, path, must, limits, fix)
    })
    return
  }
  for (const [name, settings] of Object.entries(limits)) {
    check(() => void keyName(OWNER, `a name in ${path}`, name))
    check(() => checkLimitSettings(`${path}.${name}`, settings))
  }
}

/**
 * Checks the settings of a limit. `path` is their place in the document. Throws a `TypeError` that names it.
 */
function checkLimitSettings(path: string, value: unknown): void {
  if (!isObject(value)) throw wrongOption(OWNER, path, 'an object', value, EXAMPLE)
  if (value.policy !== undefined) policyIn(path, value)
  else checkNumbers(path, value)
}

/** Checks new numbers as far as possible without the limit in the code. */
function checkNumbers(path: string, value: Fields): void {
  if (!Object.keys(value).every((name) => NUMBERS.includes(name))) {
    const fixes = { ban: "Write policy: 'fixedWindow' and its options next to ban." }
    const [unknown] = describeUnknown(`${OWNER}: ${path}`, value, NUMBERS, fixes)
    if (unknown !== undefined) throwProblems(OWNER, [unknown.error])
  }
  if (value.limit === undefined && value.window === undefined)
    throw wrongOption(OWNER, path, 'an object with limit, window or policy', value, EXAMPLE)
  if (value.limit !== undefined) wholeNumber(OWNER, `${path}.limit`, value.limit)
  if (value.window !== undefined) durationMs(OWNER, `${path}.window`, value.window)
}
