import type { LimiterDescription } from '../../limiter/description.js'
import type { SettingsChange } from '../../limiter/settings-document.js'
import type { AppliedSettings, ChangeableSettings } from '../../limiter/settings-source.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { LoggableEvent, NewEvent } from '../shared/event-log.js'

/** The most changes that are logged at once. */
const MAX_CHANGES = 20

/** Returns who changed settings, and why, as far as it is known. */
export function changeEvent({
  by,
  reason,
}: Partial<SettingsChange> = {}): Pick<LoggableEvent, 'by' | 'reason'> {
  return { ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) }
}

/**
 * Logs the changes of a limiter's settings: each once, although all processes follow them. Also logs a candidate
 * that comes or goes. Returns a function that stops.
 */
export function followSettings(
  watch: LimiterWatch,
  source: ChangeableSettings | undefined,
  addOnce: (event: LoggableEvent) => void,
  add: (event: NewEvent) => void,
): () => void {
  const { limiter, name } = watch
  let candidate = candidateOf(limiter.describe())

  async function addChanges(applied: AppliedSettings): Promise<void> {
    const changes = (await source?.changes(limiter.name ?? '').catch(() => undefined)) ?? [applied]
    for (const change of changes.slice(0, MAX_CHANGES).toReversed()) addChange(change)
  }

  function addChange({ by, reason, atMs }: Partial<SettingsChange>): void {
    if (atMs === undefined) return
    addOnce({
      id: `settings:${name}:${atMs}:${by}`,
      atMs,
      kind: 'settings',
      limiter: name,
      text: `the settings of ${name} were changed`,
      ...changeEvent({ by, reason } as Partial<SettingsChange>),
    })
  }

  function onSettings(applied: AppliedSettings): void {
    void addChanges(applied)
    const next = candidateOf(limiter.describe())
    if (next === candidate) return
    candidate = next
    const text = next === '' ? `the candidate of ${name} was removed` : `${name} has a new candidate`
    add({ kind: 'candidate', limiter: name, text, about: name, state: next, ...changeEvent(applied) })
  }

  limiter.events.on('settings', onSettings)
  const { settings } = limiter.describe()
  if (settings !== undefined) void addChanges(settings)
  return () => limiter.events.off('settings', onSettings)
}

/** Returns the limits of the candidate as a short text; '' if there is none. */
function candidateOf({ candidate }: LimiterDescription): string {
  return candidate === undefined ? '' : JSON.stringify(candidate).slice(0, 1000)
}
