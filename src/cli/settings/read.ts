import type { SettingsChange } from '../../limiter/settings-document.js'
import { limitsKey } from '../../pipe/limits-document.js'
import { publishedPolicy, readScope } from '../../pipe/published-limits.js'
import { baseOf } from '../../policies/spec.js'
import { type PartInForce, partsInForce } from '../../settings/in-force.js'
import { limitPath } from '../../settings/parts.js'
import { sharedSettings } from '../../settings/shared-settings.js'
import { isObject } from '../../util/values.js'
import { policyText } from '../keys/policy-text.js'
import type { SettingsRequest } from './arguments.js'
import type { OpenStore } from './open-store.js'

/** A limit as its limiter has published it. */
export interface LimitInForce {
  /** The name of the limit; that of its limiter if it is the only one. */
  readonly name: string
  readonly candidate: boolean
  /** The policy in words. */
  readonly policy: string
}

/** Reads the limits that processes apply to all clients, as they have published them. */
export async function readLimits(
  { readPublished }: OpenStore,
  { prefix, limiter }: Pick<SettingsRequest, 'prefix' | 'limiter'>,
): Promise<readonly LimitInForce[]> {
  const published = await readPublished(limitsKey(prefix, limiter))
  return published.flatMap(({ scope, spec }): LimitInForce[] => {
    const policy = publishedPolicy(baseOf(spec))
    const scoped = readScope(scope)
    if (policy === undefined || scoped === undefined) return []
    const { limit: name = limiter, isCandidate: candidate } = scoped
    return [{ name, candidate, policy: policyText(policy, spec.kind === 'ban') }]
  })
}

/** Returns the names of limits in a change that the limiter does not have, as far as that is known. */
export function unknownLimitsIn(
  change: SettingsChange | undefined,
  limits: readonly LimitInForce[],
): readonly string[] {
  if (limits.length === 0) return []
  const named = (change?.parts ?? []).flatMap(({ path, after }): readonly string[] => {
    if (after === undefined) return []
    if (isObject(after) && 'limits' in after) return Object.keys(after.limits ?? {})
    return path.startsWith(limitPath('')) ? [path.slice(limitPath('').length)] : []
  })
  return [...new Set(named)].filter((name) => !limits.some((limit) => limit.name === name))
}

/** Reads the document of a limiter with its history, and the parts of it that are in force. */
export async function readSettings(
  { store }: OpenStore,
  { prefix, limiter }: Pick<SettingsRequest, 'prefix' | 'limiter'>,
) {
  const { document, changes } = await sharedSettings(store, { prefix }).readWithChanges(limiter)
  const parts: readonly PartInForce[] = partsInForce({ document, changes }, Date.now())
  return { document, changes, parts, base: changes[0]?.id ?? null }
}
