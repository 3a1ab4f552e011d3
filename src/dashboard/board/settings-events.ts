import type { LimiterDescription } from '../../limiter/description.js'
import type { SettingsChange } from '../../limiter/settings-document.js'
import { type AppliedSettings, inspectSettings } from '../../limiter/settings-source.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { LoggableEvent, NewEvent } from '../shared/event-log.js'
import { effectOf } from './change-effect.js'
import { changeText, limitsText } from './change-text.js'

/** The most changes that are logged at once. */
const MAX_CHANGES = 20

/** The changes of a limiter's settings, as events. */
export interface SettingsEvents {
  /** Reads the changes again, if they could not be read. */
  check(): void
  stop(): void
}

/** Adds an event. Without an id or a time, it gets them. */
export type AddEvent = (event: NewEvent & Partial<Pick<LoggableEvent, 'id' | 'atMs'>>) => void

/** Returns who changed settings, and why, as far as it is known. */
export function authorOf({ by, reason }: Partial<AppliedSettings>): Pick<LoggableEvent, 'by' | 'reason'> {
  return { ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) }
}

/**
 * Logs the changes of a limiter's settings: each once, although all processes follow them. Also logs a candidate
 * that comes or goes.
 */
export function settingsEvents(watch: LimiterWatch, add: AddEvent): SettingsEvents {
  const { limiter, name, inspection } = watch
  const source = inspectSettings(inspection.source)
  let candidate = candidateOf(limiter.describe())
  let isDue = limiter.describe().settings !== undefined
  let isReading = false

  async function addChanges(): Promise<void> {
    if (source === undefined || !isDue || isReading) return
    isReading = true
    isDue = false
    try {
      const changes = await source.changes(limiter.name ?? '')
      watch.useChanges(changes)
      for (const change of changes.slice(0, MAX_CHANGES).toReversed()) add(changeEvent(watch, change))
    } catch {
      isDue = true // the store fails: the next check reads them
    }
    isReading = false
  }

  function onSettings(applied: AppliedSettings): void {
    isDue = true
    void addChanges()
    const text = `the settings of ${name} were reloaded`
    if (source === undefined)
      add({ id: `settings:${name}:${applied.version}`, kind: 'settings', limiter: name, text })
    const next = candidateOf(limiter.describe())
    if (next === candidate) return
    candidate = next
    const what = next === '' ? `${name} no longer has a candidate` : `${name} has a new candidate`
    add({ kind: 'candidate', limiter: name, text: what, about: name, state: next, ...authorOf(applied) })
  }

  limiter.events.on('settings', onSettings)
  void addChanges()
  return {
    check: () => void addChanges(),
    stop: () => limiter.events.off('settings', onSettings),
  }
}

function changeEvent({ name: limiter, inspection }: LimiterWatch, change: SettingsChange): LoggableEvent {
  const { id, atMs, undoes, parts = [] } = change
  const limits = limitsText(change)
  const effect = effectOf(change, inspection.codeLimits())
  return {
    id: `settings:${id}`,
    atMs,
    kind: 'settings',
    limiter,
    text: changeText(change),
    ...authorOf(change),
    details: {
      change: id,
      parts: parts.length, // without any, it cannot be undone
      ...(undoes !== undefined && { undoes }),
      ...(limits !== undefined && { limits }),
      ...(effect !== undefined && { effect }),
    },
  }
}

/** Returns the limits of the candidate as a short text; '' if there is none. */
function candidateOf({ candidate }: LimiterDescription): string {
  return candidate === undefined ? '' : JSON.stringify(candidate).slice(0, 1000)
}
