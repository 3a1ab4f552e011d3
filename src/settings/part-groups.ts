import type { ChangedPart, SettingsOverride } from '../limiter/settings-document.js'
import { byteLengthOf } from '../platform.js'
import { weakMemo } from '../util/memo.js'
import { isObject } from '../util/values.js'
import { overridePath } from './parts.js'
import { TARGETS } from './read-override.js'

type TargetKind = (typeof TARGETS)[number]
type Effect = Omit<SettingsOverride, TargetKind>

/** Overrides that a change added, removed or replaced alike: a store keeps their targets, and the rest once. */
interface PartGroup {
  readonly kind: TargetKind
  readonly targets: unknown[]
  readonly before?: Effect
  readonly after?: Effect
}

/** What a change changed, as a store keeps it. */
export interface GroupedParts {
  readonly groups: readonly (ChangedPart | PartGroup)[]
  /** How many bytes of JSON they have. */
  readonly bytes: number
}

/** Returns parts as a store keeps them. */
export const groupedParts = weakMemo((parts: readonly ChangedPart[]): GroupedParts => {
  const groups: (ChangedPart | PartGroup)[] = []
  const byEffect = new Map<string, PartGroup>()
  for (const part of parts) {
    const single = singleOf(part)
    if (single === undefined) {
      groups.push(part)
      continue
    }
    const { targets, ...rest } = single
    const key = JSON.stringify(rest)
    const group = byEffect.get(key)
    if (group !== undefined) {
      group.targets.push(...targets)
      continue
    }
    byEffect.set(key, single)
    groups.push(single)
  }
  return { groups, bytes: byteLengthOf(JSON.stringify(groups)) }
})

/** Returns a part as a group of one; `undefined` if it is no override, or if its target is written in two ways. */
function singleOf({ path, before, after }: ChangedPart): PartGroup | undefined {
  const kind = TARGETS.find((each) => path.startsWith(`overrides[${each}=`))
  if (kind === undefined) return undefined
  const [old, next] = [before, after].map((value) => value && splitOverride(value as SettingsOverride, kind))
  if (old !== undefined && next !== undefined && JSON.stringify(old.target) !== JSON.stringify(next.target))
    return undefined
  return {
    kind,
    targets: [(old ?? next)?.target],
    ...(old && { before: old.effect }),
    ...(next && { after: next.effect }),
  }
}

function splitOverride(override: SettingsOverride, kind: TargetKind) {
  const { [kind]: target, ...effect } = override
  return { target, effect }
}

/** Returns the parts that a store keeps; `undefined` if they cannot be read. */
export function partsOfGroups(groups: unknown): readonly ChangedPart[] | undefined {
  if (!Array.isArray(groups)) return undefined
  try {
    const parts = groups.flatMap((group) => (isGroup(group) ? partsIn(group) : group))
    return parts.every(isPart) ? parts : undefined
  } catch {
    return undefined // a target that no override can have
  }
}

function partsIn({ kind, targets, before, after }: PartGroup): ChangedPart[] {
  return targets.map((target) => {
    const of = { [kind]: target }
    return {
      path: overridePath({ ...of, block: true }),
      ...(before && { before: { ...of, ...before } }),
      ...(after && { after: { ...of, ...after } }),
    }
  })
}

function isGroup(value: unknown): value is PartGroup {
  return (
    isObject(value) &&
    Array.isArray(value.targets) &&
    [value.before, value.after].every((effect) => effect === undefined || isObject(effect))
  )
}

function isPart(value: unknown): value is ChangedPart {
  return isObject(value) && typeof value.path === 'string'
}
