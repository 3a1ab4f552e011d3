import { partsInForce } from '../../settings/in-force.js'
import { overridePath } from '../../settings/parts.js'
import type { Watched } from '../figures/limiter-watch.js'
import { groupedEntries, type InForce } from './in-force.js'
import { requireSettings } from './settings-of.js'
import { resolveTargets, type Target } from './targets.js'

/** What an override of some targets would replace. */
export interface ReplacedOverrides {
  /** The version of the settings in which it is in force: the latest change, or `null` if there is none. */
  readonly base: string | null
  readonly replaces: readonly Omit<InForce, 'paths'>[]
}

/** Reads which overrides are in force for some targets. Rejects if the limiter has no settings, or as they are read. */
export async function readReplaced(watched: Watched, given: readonly Target[]): Promise<ReplacedOverrides> {
  const { name, settings } = requireSettings(watched)
  const [resolved, recorded] = await Promise.all([
    resolveTargets(watched, given),
    settings.readWithChanges(name),
  ])
  const paths = new Set([...given, ...resolved].map((target) => overridePath({ ...target, block: true })))
  const parts = partsInForce(recorded, Date.now()).filter(({ path }) => paths.has(path))
  const replaces = groupedEntries(parts).map(({ paths: _paths, ...shown }) => shown)
  return { base: recorded.changes[0]?.id ?? null, replaces }
}
