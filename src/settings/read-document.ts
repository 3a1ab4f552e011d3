import { checkMode } from '../limiter/access-rules.js'
import type { GivenDocument, SettingsDocument, SettingsOverride } from '../limiter/settings-document.js'
import { optional, readRows, unchecked } from '../options/option-table.js'
import { collectTypeError, throwProblems } from '../options/problems.js'
import type { Steps } from '../util/slices.js'
import { wrongOption } from '../util/validate.js'
import { isObject } from '../util/values.js'
import { readLimits, readOverride } from './read-override.js'

const OWNER = 'settings'
/** The most overrides that a document may have. */
export const MAX_OVERRIDES = 10_000
/** The most problems that an error lists. */
export const MAX_PROBLEMS = 10

const LIMITS_FIX = "Write limits: { api: { limit: 200, window: '1m' } }, with the name of the limit."

const DOCUMENT = {
  rows: {
    mode: optional(checkMode),
    limits: optional(readLimits),
    candidate: optional(readCandidate),
    overrides: unchecked,
  },
  fixes: {
    rules: 'overrides',
    limit: LIMITS_FIX,
    window: LIMITS_FIX,
    allow: "Write overrides: [{ network: '10.0.0.0/8', exempt: true }].",
    block: "Write overrides: [{ network: '203.0.113.0/24', block: true }].",
  },
}

/** Checks an override that an earlier document does not have. Throws a `TypeError` that names its `path`. */
export type CheckAdded = (path: string, override: SettingsOverride) => void

/**
 * Reads a document. Returns it with all its parts, but without overrides that have ended. Overrides that
 * equal those of an `earlier` document are taken from it, and not read again. Throws a `TypeError` that
 * lists the first problems, each with its place, such as `limits.api.window`, and its fix.
 */
export function* documentSteps(
  value: unknown,
  nowMs: number,
  earlier?: SettingsDocument,
  checkAdded?: CheckAdded,
): Steps<SettingsDocument> {
  if (!isObject(value) || Array.isArray(value)) {
    const fix = "Write { limits: { api: { limit: 200, window: '1m' } } }."
    throw wrongOption(OWNER, 'the document', 'an object', value, fix)
  }
  const { mode, limits, candidate, overrides = [] }: GivenDocument = value
  const problems: TypeError[] = []
  collectTypeError(problems, () => readRows(OWNER, value, DOCUMENT))
  const kept = yield* overrideSteps(
    overrides,
    nowMs,
    earlier && readIn.get(earlier.overrides),
    problems,
    checkAdded,
  )
  throwProblems(OWNER, problems.slice(0, MAX_PROBLEMS))
  return {
    ...(mode !== undefined && { mode }),
    limits: { ...limits },
    ...(candidate !== undefined && { candidate: { limits: { ...candidate.limits } } }),
    overrides: kept,
  }
}

function readCandidate(owner: string, option: string, candidate: unknown): unknown {
  if (isObject(candidate) && isObject(candidate.limits) && Object.keys(candidate).length === 1)
    return readLimits(owner, `${option}.limits`, candidate.limits)
  const fix = "Write candidate: { limits: { api: { limit: 200, window: '1m' } } }."
  throw wrongOption(owner, option, 'an object with limits and nothing else', candidate, fix)
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

/** A valid override, and what was read of it. */
type ReadOverride = ReturnType<typeof readOverride> & { readonly override: SettingsOverride }

/** What was read of the overrides of each document, by their JSON. */
const readIn = new WeakMap<SettingsDocument['overrides'], ReadonlyMap<string, ReadOverride>>()

/**
 * Reads overrides, and stops once there are enough problems. No two may have the same target. Returns those
 * that have not ended.
 */
function* overrideSteps(
  given: unknown,
  nowMs: number,
  earlier: ReadonlyMap<string, ReadOverride> | undefined,
  problems: TypeError[],
  checkAdded?: CheckAdded,
): Steps<SettingsOverride[]> {
  const overrides: SettingsOverride[] = []
  if (!collectTypeError(problems, () => checkList(given))) return overrides
  const read = new Map<string, ReadOverride>()
  const indexes = new Map<string, number>()

  function readAt(i: number, override: SettingsOverride): void {
    const path = `overrides[${i}]`
    const text = JSON.stringify(override)
    const kept = earlier?.get(text)
    const each = kept ?? { ...readOverride(path, override), override }
    const before = indexes.get(each.target)
    if (before !== undefined)
      throw new TypeError(`${OWNER}: ${path} has the same target as overrides[${before}]. Merge the two.`)
    indexes.set(each.target, i)
    if (kept === undefined) checkAdded?.(path, override)
    if (each.until <= nowMs) return
    read.set(text, each)
    overrides.push(each.override)
  }

  for (const [i, override] of (given as SettingsOverride[]).entries()) {
    collectTypeError(problems, () => readAt(i, override))
    if (problems.length >= MAX_PROBLEMS) break
    yield
  }
  readIn.set(overrides, read)
  return overrides
}

/**
 * Returns the overrides of a valid document that have not ended, by their targets, such as
 * `overrides[identity="acme"]`.
 */
export function overridesByTarget(
  { overrides }: Pick<SettingsDocument, 'overrides'>,
  nowMs: number,
): Map<string, SettingsOverride> {
  const read = readIn.get(overrides)?.values() ?? overrides.map(readSeparately)
  const byTarget = new Map<string, SettingsOverride>()
  for (const { target, until, override } of read) if (until > nowMs) byTarget.set(target, override)
  return byTarget
}

function readSeparately(override: SettingsOverride, i: number): ReadOverride {
  return { ...readOverride(`overrides[${i}]`, override), override }
}
