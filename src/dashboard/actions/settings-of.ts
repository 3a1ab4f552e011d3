import { inspectSettings } from '../../limiter/settings-source.js'
import type { SharedSettings } from '../../settings/shared-settings.js'
import type { Watched } from '../figures/limiter-watch.js'

/** Who changes settings, and why. A change with the same `id` is made once. */
export interface ChangeAuthor {
  readonly by: string
  readonly reason: string
  readonly id?: string
}

/** The settings of a limiter, and the name of its document. */
export interface LimiterSettings {
  readonly name: string
  readonly settings: SharedSettings
}

/** Returns the settings of a limiter that the page can change; `undefined` if it has none. */
export function settingsOf({ limiter, inspection }: Watched): LimiterSettings | undefined {
  const settings = inspectSettings(inspection.source)
  return settings && { name: limiter.name ?? '', settings: settings as SharedSettings }
}

/** Returns the settings of a limiter. Throws a `TypeError` with the fix if it has none. */
export function requireSettings(watched: Watched): LimiterSettings {
  const found = settingsOf(watched)
  if (found !== undefined) return found
  const fix = 'Add settings: sharedSettings(store) to the options of the limiter.'
  throw new TypeError(`dashboard: ${watched.name} has no settings that the page can change. ${fix}`)
}
