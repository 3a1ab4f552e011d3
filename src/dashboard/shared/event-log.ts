import type { Documents } from '../../stores/documents.js'
import { type Fields, isObject } from '../../util/values.js'
import type { LoggedEvent } from '../figures/logged-event.js'
import { repeatedEvent } from './repeated-event.js'
import { sharedDocument } from './shared-document.js'
import { isTooOld, MAX_EVENTS, trimmedEvents } from './trimmed-events.js'

/** The most events that wait for a store that fails. */
const MAX_PENDING = 200
const MAX_TEXT_LENGTH = 500
/** The most characters of `details`, as JSON: as many as 20 of the longest identities have. */
const MAX_DETAILS = 25_000

/** An event that processes may log at the same time. */
export interface LoggableEvent extends LoggedEvent {
  /**
   * What the event is about, and what has become of it, such as `redis` and `open`. Many processes see one outage, so
   * it is left out if the event before it about the same thing says the same. Without `state`, it is left out if there
   * was one within a minute.
   */
  readonly about?: string
  readonly state?: string
}

/** An event without what tells it from others. */
export type NewEvent = Omit<LoggableEvent, 'id' | 'atMs'>

/** The events of a store, which all processes share. */
export interface EventLog {
  /** Logs an event as soon as the store takes it. */
  add(event: LoggableEvent): void
  /** Writes what was added. Rejects if the store fails: it is written later. */
  flush(): Promise<void>
  /** Reads what other processes have logged. */
  read(): Promise<void>
  /** Returns the last events as they were read, with those that are not yet written, the oldest first. */
  events(): readonly LoggedEvent[]
}

const NO_EVENTS: readonly LoggableEvent[] = []

/** Returns the key of the event log below a prefix. */
export function eventsKey(prefix: string): string {
  return `${prefix}:dashboard:events`
}

/** Creates access to the log of events in a store. */
export function eventLog(documents: Documents, prefix: string, now: () => number = Date.now): EventLog {
  const document = sharedDocument<readonly LoggableEvent[]>(documents, eventsKey(prefix), CODEC)
  let stored = NO_EVENTS
  let pending: readonly LoggableEvent[] = []

  async function flush(): Promise<void> {
    const batch = pending
    if (batch.length === 0) return
    const isWritten = await document.change((events = []) => {
      stored = events
      const next = withEvents(events, batch, now())
      if (next === events) return undefined
      stored = next
      return next
    })
    if (isWritten) pending = pending.filter((event) => !batch.includes(event))
  }

  return {
    add(event) {
      pending = [...pending, boundEvent(event)].slice(-MAX_PENDING)
    },
    flush,
    async read() {
      stored = (await document.read()) ?? NO_EVENTS
    },
    events: () => (pending.length === 0 ? stored : withEvents(stored, pending, now())),
  }
}

/** Returns the log with more events: each once, in the order of their times. The same log if it has them all. */
export function withEvents(
  log: readonly LoggableEvent[],
  added: readonly LoggableEvent[],
  nowMs: number,
): readonly LoggableEvent[] {
  let next = log
  for (const event of added) {
    if (isTooOld(next, event, nowMs) || next.some(({ id }) => id === event.id)) continue
    const repeated = repeatedEvent(next, event)
    if (repeated !== undefined && repeated.atMs <= event.atMs) continue
    const others = repeated === undefined ? next : next.filter((each) => each !== repeated)
    const at = others.findLastIndex(({ atMs }) => atMs <= event.atMs) + 1
    next = others.toSpliced(at, 0, event)
  }
  return next === log ? log : trimmedEvents(next, nowMs)
}

function boundEvent(event: LoggableEvent): LoggableEvent {
  const { details, by, reason, ...others } = event
  const isShort = details !== undefined && JSON.stringify(details).length <= MAX_DETAILS
  return {
    ...others,
    text: others.text.slice(0, MAX_TEXT_LENGTH),
    ...(by !== undefined && { by: by.slice(0, MAX_TEXT_LENGTH) }),
    ...(reason !== undefined && { reason: reason.slice(0, MAX_TEXT_LENGTH) }),
    ...(isShort && { details }),
  }
}

const CODEC = {
  decode({ events }: Fields): readonly LoggableEvent[] | undefined {
    return Array.isArray(events) ? events.slice(-MAX_EVENTS).filter(isEvent) : undefined
  },
  encode: (events: readonly LoggableEvent[]) => ({ events }),
}

function isEvent(value: unknown): value is LoggableEvent {
  if (!isObject(value) || !isTime(value.atMs)) return false
  const { id, kind, text, limiter = '', by = '', reason = '', details = {} } = value
  return (
    [id, kind, text, limiter, by, reason].every((field) => typeof field === 'string') && isObject(details)
  )
}

/** A time that `Date` can write. */
function isTime(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 8_640_000_000_000_000
}
