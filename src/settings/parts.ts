import type {
  ChangedPart,
  GivenDocument,
  LimitSettings,
  PartValue,
  SettingsDocument,
  SettingsOverride,
} from '../limiter/settings-document.js'
import { isSameJson } from '../util/same-json.js'
import type { Steps } from '../util/slices.js'
import { isObject } from '../util/values.js'
import { overridesByTarget } from './read-document.js'
import { endOf, readOverride } from './read-override.js'

/**
 * The parts of a document by their paths. Changes are recorded, compared and undone part by part. Overrides
 * that have ended are not among them.
 */
export type Parts = ReadonlyMap<string, PartValue>

const MODE = 'mode'
const CANDIDATE = 'candidate'
const LIMITS = 'limits.'
const OVERRIDES = 'overrides['

/** Returns the path of a limit of a document. */
export function limitPath(name: string): string {
  return LIMITS + name
}

/** Returns the path of an override, which depends on its target alone. Throws a `TypeError` for a wrong one. */
export function overridePath(override: SettingsOverride): string {
  return readOverride('the override', override).target
}

/** Returns the parts of a valid document. */
export function partsOf(document: SettingsDocument, nowMs: number): Map<string, PartValue> {
  const { mode, limits, candidate } = document
  const parts = new Map<string, PartValue>()
  if (mode !== undefined) parts.set(MODE, mode)
  for (const [name, limit] of Object.entries(limits)) parts.set(limitPath(name), limit)
  if (candidate !== undefined) parts.set(CANDIDATE, candidate)
  for (const [path, override] of overridesByTarget(document, nowMs)) parts.set(path, override)
  return parts
}

/** Returns the document that has these parts. */
export function documentOf(parts: Parts): GivenDocument {
  const under = (start: string) => Array.from(parts).filter(([path]) => path.startsWith(start))
  const limits = under(LIMITS).map(([path, limit]) => [path.slice(LIMITS.length), limit] as const)
  const document = {
    mode: parts.get(MODE),
    limits: Object.fromEntries(limits) as Record<string, LimitSettings>,
    candidate: parts.get(CANDIDATE),
    overrides: under(OVERRIDES).map(([, override]) => override),
  }
  return document as GivenDocument
}

/** Sets a part, or removes it. An override that has ended is removed. */
export function setPart(
  parts: Map<string, PartValue>,
  path: string,
  value: PartValue | undefined,
  nowMs: number,
): void {
  const lasting = unlessEnded(path, value, nowMs)
  if (lasting === undefined) parts.delete(path)
  else parts.set(path, lasting)
}

/** Returns the value of a part; `undefined` for an override that has ended. */
export function unlessEnded(
  path: string,
  value: PartValue | undefined,
  nowMs: number,
): PartValue | undefined {
  const isOverride = path.startsWith(OVERRIDES) && isObject(value)
  return isOverride && endOf(value as SettingsOverride) <= nowMs ? undefined : value
}

/** Returns the parts in which two documents differ. */
export function* differences(before: Parts, after: Parts): Steps<ChangedPart[]> {
  const changed: ChangedPart[] = []
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [old, next] = [before.get(path), after.get(path)]
    yield
    if (isSameJson(old, next)) continue
    changed.push({
      path,
      ...(old !== undefined && { before: old }),
      ...(next !== undefined && { after: next }),
    })
  }
  return changed
}
