import type { GivenDocument, LimitsByName, SettingsDocument } from '../../limiter/settings-document.js'
import { documentOf, overridePath, partsOf, setPart } from '../../settings/parts.js'
import type { Watched } from '../figures/limiter-watch.js'
import { type ChangeAuthor, requireSettings } from './settings-of.js'
import { resolveTargets, type Target } from './targets.js'

/** What an override does to a client. */
export type Effect = { readonly block: true } | { readonly exempt: true } | { readonly limits: LimitsByName }

/** What is done to whom, and for how long. */
export interface Override {
  readonly targets: readonly Target[]
  readonly effect: Effect
  readonly durationMs: number
}

/** What was done. */
export interface Overridden {
  readonly count: number
  /** When it ends, in ms since the Unix epoch. */
  readonly untilMs: number
}

/**
 * Overrides the limits of clients for a time, in one change of the settings. Earlier overrides of the same
 * targets are replaced. Rejects as `settings.change` does.
 */
export async function overrideTargets(
  watched: Watched,
  { targets: given, effect, durationMs }: Override,
  author: ChangeAuthor,
): Promise<Overridden> {
  const { name, settings } = requireSettings(watched)
  const targets = await resolveTargets(watched, given)
  const untilMs = Date.now() + durationMs
  await settings.change(name, (document) => withOverrides(document, targets, effect, untilMs), author)
  return { count: targets.length, untilMs }
}

/** Returns a document with overrides that end at a time. */
export function withOverrides(
  document: SettingsDocument,
  targets: readonly Target[],
  effect: Effect,
  untilMs: number,
): GivenDocument {
  const nowMs = Date.now()
  const parts = partsOf(document, nowMs)
  const until = new Date(untilMs).toISOString()
  for (const target of targets) {
    const override = { ...target, ...effect, until }
    setPart(parts, overridePath(override), override, nowMs)
  }
  return documentOf(parts)
}
