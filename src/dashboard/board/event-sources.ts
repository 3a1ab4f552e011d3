import type { LimiterEvents } from '../../limiter/events.js'
import type { BreakerState } from '../../pipe/breaker-state.js'
import type { Store } from '../../stores/store.js'
import type { Listeners } from '../../util/emitter.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { RecordedEvent } from '../figures/logged-event.js'
import { counted, lengthText } from '../findings/words.js'
import type { NewEvent } from '../shared/event-log.js'
import type { Group } from '../shared/group.js'
import { processName } from '../shared/process-events.js'
import { eventId } from '../shared/repeated-event.js'
import { thisProcess } from '../shared/this-process.js'
import { serverNameOf } from './server-name.js'
import { type AddEvent, authorOf, settingsEvents } from './settings-events.js'

/** The events of the limiters of a group. */
export interface EventSources {
  /** Logs what has changed without an event of a limiter, such as its mode. */
  check(): void
  /** Logs what an operator has done. */
  record(event: RecordedEvent): void
  stop(): void
}

type StateListener = Listeners<LimiterEvents<unknown>>['storeState']

/** Returns what tells the events of a dashboard from those of all others. */
export function sourceOf({ options }: Group): string {
  return `${thisProcess().id}-${options.dashboard}`
}

/** Logs what happens to the limiters of a group, from now on. No other group may have the same `source`. */
export function watchEvents(group: Group, now: () => number, source = sourceOf(group)): EventSources {
  const { watches } = group.options
  const stops: (() => void)[] = []
  let count = 0

  const add: AddEvent = (event) => group.log.add({ id: eventId(source, count++), atMs: now(), ...event })

  const breakers = breakerEvents(add, now)
  for (const watch of watches) {
    const { limiter } = watch
    const onState: StateListener = (state, _cause, server) => breakers.change(watch, state, server)
    limiter.events.on('storeState', onState)
    stops.push(() => limiter.events.off('storeState', onState))
  }
  for (const store of new Set(watches.map(({ inspection }) => inspection.store)))
    stops.push(onLimitsLost(store, add))
  const settings = watches.map((watch) => settingsEvents(watch, add))
  const modes = new Map(watches.map((watch) => [watch, watch.limiter.mode]))

  return {
    check() {
      for (const each of settings) each.check()
      for (const [watch, before] of modes) {
        const { mode } = watch.limiter
        if (mode === before) continue
        modes.set(watch, mode)
        add(modeEvent(watch))
      }
    },
    record: add,
    stop() {
      for (const stop of stops.splice(0)) stop()
      for (const each of settings) each.stop()
    },
  }
}

/** One event for each server of a store, although each limiter has its own circuit breaker. */
function breakerEvents(add: (event: NewEvent) => void, now: () => number) {
  const open = new Map<string, Set<LimiterWatch>>()
  const ended = new Map<string, Set<LimiterWatch>>()
  return {
    change(watch: LimiterWatch, state: BreakerState, server: string | undefined): void {
      if (state === 'half-open') return
      const { name: store } = watch.inspection.store
      const about = `${store} ${server ?? ''}`
      const limiters = open.get(about) ?? new Set()
      open.set(about, limiters)
      const wasOpen = limiters.size > 0
      const closed = wasOpen ? (ended.get(about) ?? new Set()) : new Set<LimiterWatch>()
      ended.set(about, closed)
      if (state === 'open') limiters.add(watch)
      else if (limiters.delete(watch)) closed.add(watch)
      const isOpen = limiters.size > 0
      if (isOpen === wasOpen) return
      const place = server ?? serverNameOf(watch.inspection.store)
      const who = place === undefined ? store : `${store} (${place})`
      const text = isOpen
        ? `${who} stopped replying in time`
        : `${who} replies in time again${endText([...closed], now())}`
      const details = { store, state: isOpen ? 'open' : 'closed', ...(server !== undefined && { server }) }
      add({ kind: 'breaker', text, about, state: details.state, details })
    },
  }
}

/** Returns to which process a store replies again, after how long, and what that decided meanwhile. */
function endText(watches: readonly LimiterWatch[], nowMs: number): string {
  const outages = watches.flatMap(({ endedOutage }) => endedOutage ?? [])
  const decisions = outages.reduce((sum, outage) => sum + outage.decisions, 0)
  const length = lengthText(nowMs - Math.min(nowMs, ...outages.map(({ sinceMs }) => sinceMs)))
  const made =
    decisions === 0
      ? `after ${length}`
      : `which made ${counted(decisions, 'decision')} without it in ${length}`
  return ` to ${processName(thisProcess())}, ${made}`
}

function onLimitsLost({ name, onLimitsLost: listen }: Store, add: (event: NewEvent) => void): () => void {
  const stop = listen?.((error) => {
    add({ kind: 'limits-lost', text: error.message, about: name, details: { store: name } })
  })
  return () => stop?.()
}

function modeEvent({ name, limiter }: LimiterWatch): NewEvent {
  const { mode, settings } = limiter.describe()
  const text =
    mode.value === 'report' ? `${name} now only reports denials` : `${name} now enforces its limits`
  const author = mode.from === 'settings' && settings !== undefined ? authorOf(settings) : {}
  return {
    kind: 'mode',
    limiter: name,
    text,
    about: name,
    state: mode.value,
    ...author,
    details: { mode: mode.value },
  }
}
