import { checkMode } from '../../limiter/access-rules.js'
import { describeUnknown } from '../../options/fixes.js'
import { collectTypeError, throwProblems } from '../../options/problems.js'
import type { Steps } from '../../util/slices.js'
import { wrongOption } from '../../util/validate.js'
import { type Fields, isObject } from '../../util/values.js'
import { type Check, checkLimits } from './check-limits.js'
import type { GivenDocument, SettingsDocument, SettingsOverride } from './document.js'
import { checkOverride, endOf, targetOf } from './read-override.js'

const OWNER = 'settings'
/** The most overrides that a document may have. */
export const MAX_OVERRIDES = 10_000
/** The most problems that an error lists. */
export const MAX_PROBLEMS = 10

const FIXES = {
  rules: 'overrides',
  limit: "Write limits: { api: { limit: 200, window: '1m' } }, with the name of the limit.",
  window: "Write limits: { api: { limit: 200, window: '1m' } }, with the name of the limit.",
  allow: "Write overrides: [{ network: '10.0.0.0/8', exempt: true }].",
  block: "Write overrides: [{ network: '203.0.113.0/24', block: true }].",
}

/**
 * Checks a document. Returns it with all its parts, but without overrides that have ended. Overrides that
 * equal those of an `earlier` document are taken from it, and not checked again. Throws a `TypeError` that
 * lists the first problems, each with its place, such as `limits.api.window`, and its fix.
 */
export function* documentSteps(
  value: unknown,
  nowMs: number,
  earlier?: SettingsDocument,
): Steps<SettingsDocument> {
  if (!isObject(value) || Array.isArray(value)) {
    const fix = "Write { limits: { api: { limit: 200, window: '1m' } } }."
    throw wrongOption(OWNER, 'the document', 'an object', value, fix)
  }
  const given: GivenDocument & Fields = value
  const problems: TypeError[] = []
  const check = (run: () => void) => void collectTypeError(problems, run)
  for (const { error } of describeUnknown(OWNER, given, ['mode', 'limits', 'candidate', 'overrides'], FIXES))
    problems.push(error)
  if (given.mode !== undefined) check(() => void checkMode(OWNER, 'mode', given.mode))
  checkLimits(check, 'limits', given.limits)
  if (given.candidate !== undefined) checkCandidate(check, given.candidate)
  const overrides = yield* overrideSteps(given.overrides ?? [], nowMs, earlier?.overrides, problems)
  throwProblems(OWNER, problems.slice(0, MAX_PROBLEMS))
  return {
    ...(given.mode !== undefined && { mode: given.mode }),
    limits: { ...given.limits },
    ...(given.candidate !== undefined && { candidate: { limits: { ...given.candidate.limits } } }),
    overrides,
  }
}

function checkCandidate(check: Check, candidate: unknown): void {
  check(() => {
    if (isObject(candidate) && isObject(candidate.limits) && Object.keys(candidate).length === 1) return
    const fix = "Write candidate: { limits: { api: { limit: 200, window: '1m' } } }."
    throw wrongOption(OWNER, 'candidate', 'an object with limits and nothing else', candidate, fix)
  })
  if (isObject(candidate)) checkLimits(check, 'candidate.limits', candidate.limits)
}

/** Throws a `TypeError` if a document has too many overrides, without reading any of them. */
export function checkLength(value: unknown): void {
  if (isObject(value) && Array.isArray(value.overrides)) checkList(value.overrides)
}

function checkList(overrides: unknown): void {
  if (Array.isArray(overrides) && overrides.length <= MAX_OVERRIDES) return
  const must = `an array of at most ${MAX_OVERRIDES} overrides`
  throw wrongOption(OWNER, 'overrides', must, overrides, "Write [{ identity: 'acme', exempt: true }].")
}

/**
 * Checks that overrides are valid and that no two have the same target, until there are enough problems.
 * Returns those that have not ended.
 */
function* overrideSteps(
  given: unknown,
  nowMs: number,
  earlier: SettingsDocument['overrides'] | undefined,
  problems: TypeError[],
): Steps<SettingsOverride[]> {
  const overrides: SettingsOverride[] = []
  if (!collectTypeError(problems, () => checkList(given))) return overrides
  const checkedEarlier = earlier && checkedIn.get(earlier)
  const checked = new Map<string, CheckedOverride>()
  const indexes = new Map<string, number>()
  for (const [i, value] of (given as readonly unknown[]).entries()) {
    collectTypeError(problems, () => {
      const text = JSON.stringify(value)
      const each = checkedEarlier?.get(text) ?? checkOne(`overrides[${i}]`, value)
      checkTarget(indexes, each.target, i)
      if (each.endMs <= nowMs) return
      checked.set(text, each)
      overrides.push(each.override)
    })
    if (problems.length >= MAX_PROBLEMS) break
    yield
  }
  checkedIn.set(overrides, checked)
  return overrides
}

/** Checks that no earlier override has the same target. */
function checkTarget(indexes: Map<string, number>, target: string, i: number): void {
  const before = indexes.get(target)
  indexes.set(target, i)
  if (before === undefined) return
  throw new TypeError(`${OWNER}: overrides[${i}] has the same target as overrides[${before}]. Merge the two.`)
}

function checkOne(path: string, override: unknown): CheckedOverride {
  checkOverride(path, override)
  return { override, target: targetOf(override), endMs: endOf(override.until) }
}

/** An override that was found valid. */
interface CheckedOverride {
  readonly override: SettingsOverride
  readonly target: string
  readonly endMs: number
}

/** What is known of the overrides of each document, by their JSON. */
const checkedIn = new WeakMap<SettingsDocument['overrides'], ReadonlyMap<string, CheckedOverride>>()
