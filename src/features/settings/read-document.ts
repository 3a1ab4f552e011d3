import { checkMode } from '../../limiter/access-rules.js'
import { describeUnknown } from '../../options/fixes.js'
import { collectTypeError, throwProblems } from '../../options/problems.js'
import { wrongOption } from '../../util/validate.js'
import { type Fields, isObject } from '../../util/values.js'
import { type Check, checkLimits } from './check-limits.js'
import type { GivenDocument, SettingsDocument } from './document.js'
import { checkOverride, endOf, targetOf } from './read-override.js'

const OWNER = 'settings'
/** The most overrides that a document may have. */
export const MAX_OVERRIDES = 10_000
/** The most problems that an error lists. */
const MAX_PROBLEMS = 10

const FIXES = {
  rules: 'overrides',
  limit: "Write limits: { api: { limit: 200, window: '1m' } }, with the name of the limit.",
  window: "Write limits: { api: { limit: 200, window: '1m' } }, with the name of the limit.",
  allow: "Write overrides: [{ network: '10.0.0.0/8', exempt: true }].",
  block: "Write overrides: [{ network: '203.0.113.0/24', block: true }].",
}

/**
 * Checks a document. Returns it with all its parts, but without overrides that have ended. Throws a
 * `TypeError` that lists the problems, each with its place, such as `limits.api.window`, and its fix.
 */
export function readDocument(value: unknown, nowMs: number): SettingsDocument {
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
  const overrides: unknown = given.overrides ?? []
  check(() => checkList(overrides))
  if (Array.isArray(overrides)) checkOverrides(check, overrides)
  throwProblems(OWNER, problems.slice(0, MAX_PROBLEMS))
  return {
    ...(given.mode !== undefined && { mode: given.mode }),
    limits: { ...given.limits },
    ...(given.candidate !== undefined && { candidate: { limits: { ...given.candidate.limits } } }),
    overrides: (given.overrides ?? []).filter(({ until }) => !(endOf(until) <= nowMs)),
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

function checkList(overrides: unknown): void {
  if (Array.isArray(overrides) && overrides.length <= MAX_OVERRIDES) return
  const must = `an array of at most ${MAX_OVERRIDES} overrides`
  throw wrongOption(OWNER, 'overrides', must, overrides, "Write [{ identity: 'acme', exempt: true }].")
}

/** Checks each override, and that no two have the same target. */
function checkOverrides(check: Check, overrides: readonly unknown[]): void {
  const indexes = new Map<string, number>()
  for (const [i, override] of overrides.entries()) {
    const path = `overrides[${i}]`
    check(() => {
      checkOverride(path, override)
      const target = targetOf(override)
      const earlier = indexes.get(target)
      indexes.set(target, i)
      if (earlier === undefined) return
      throw new TypeError(`${OWNER}: ${path} has the same target as overrides[${earlier}]. Merge the two.`)
    })
  }
}
