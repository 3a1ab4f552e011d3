import type { GivenDocument, LimitsByName, SettingsDocument } from '../../limiter/settings-document.js'
import { documentOf, overridePath, partsOf, setPart } from '../../settings/parts.js'
import type { Watched } from '../figures/limiter-watch.js'
import { blockIdentities } from './adjust-clients.js'
import { type ChangeAuthor, requireSettings, settingsOf } from './settings-of.js'
import { resolveTargets, type Target } from './targets.js'

/** What an override does to a client. */
export type Effect = { readonly block: true } | { readonly exempt: true } | { readonly limits: LimitsByName }

/** What is done to whom, and for how long. */
export interface Override {
  readonly targets: readonly Target[]
  readonly effect: Effect
  /** `Infinity` for an override that has no end. */
  readonly durationMs: number
}

/** What was done. */
export interface Overridden {
  readonly count: number
  /** When it ends, in ms since the Unix epoch; absent if it has no end. */
  readonly untilMs?: number
}

/**
 * Overrides the limits of clients for a time, in one change of the settings. Earlier overrides of the same
 * targets are replaced. Rejects as `settings.change` does: with `basedOn`, also if others have overridden the same
 * targets since.
 */
export async function overrideTargets(
  watched: Watched,
  { targets: given, effect, durationMs }: Override,
  author: ChangeAuthor & { readonly basedOn?: string | null },
): Promise<Overridden> {
  const { name, settings } = requireSettings(watched)
  const targets = await resolveTargets(watched, given)
  const end = endAfter(durationMs)
  await settings.change(name, (document) => withOverrides(document, targets, effect, end.untilMs), author)
  return { count: targets.length, ...end }
}

/** Returns a document with overrides that end at a time, if at all. */
export function withOverrides(
  document: SettingsDocument,
  targets: readonly Target[],
  effect: Effect,
  untilMs: number | undefined,
): GivenDocument {
  const nowMs = Date.now()
  const parts = partsOf(document, nowMs)
  const end = untilMs === undefined ? {} : { until: new Date(untilMs).toISOString() }
  for (const target of targets) {
    const override = { ...target, ...effect, ...end }
    setPart(parts, overridePath(override), override, nowMs)
  }
  return documentOf(parts)
}

/** Returns whether a limiter blocks by its bans, because it has no settings. */
export const blocksByBan = (watched: Watched, effect: Effect) =>
  'block' in effect && settingsOf(watched) === undefined

/**
 * Blocks clients by the bans of a limiter. Rejects with a `TypeError` and the fix if it has no ban, if a target is
 * not a client, or if a ban cannot last as long.
 */
export async function banTargets(
  watched: Watched,
  { targets, durationMs }: Omit<Override, 'effect'>,
): Promise<Required<Overridden> & { readonly identities: readonly string[] }> {
  const identities = targets.flatMap(({ storedIdentity, identity }) => storedIdentity ?? identity ?? [])
  if (identities.length < targets.length)
    throw new TypeError(`dashboard: a ban of ${watched.name} is for clients, not for networks. ${FIX}`)
  if (durationMs === Number.POSITIVE_INFINITY)
    throw new TypeError(`dashboard: a ban of ${watched.name} must have an end. ${FIX}`)
  await blockIdentities(watched, identities, durationMs)
  return { count: identities.length, untilMs: Date.now() + durationMs, identities }
}

const FIX = 'To do this, add settings: sharedSettings(store) to the options of the limiter.'

function endAfter(durationMs: number): Pick<Overridden, 'untilMs'> {
  return durationMs === Number.POSITIVE_INFINITY ? {} : { untilMs: Date.now() + durationMs }
}
