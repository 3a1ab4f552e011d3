import { weakMemo } from '../../util/memo.js'
import { MAX_TEXT } from './shared-document.js'

/** How many events are kept. */
export const MAX_EVENTS = 1000
/** An event that is later than this is of a process whose clock is ahead, or the clock of this one is behind. */
const MAX_AHEAD_MS = 60_000
/** The bytes around events in the text of a document. */
const OTHER_BYTES = 100

interface Timed {
  readonly atMs: number
}

/** How many events there may be, and how long their texts. */
interface Room {
  readonly events: number
  readonly bytes: number
}

const ALL: Room = { events: MAX_EVENTS, bytes: MAX_TEXT - OTHER_BYTES }
const HALF: Room = { events: ALL.events / 2, bytes: ALL.bytes / 2 }

/**
 * Drops the oldest events, so that every store can hold the others. No one knows whose clock is right, so events that
 * lie ahead of this one leave half of the room to the others, and the others leave them half: a clock that is wrong
 * costs the log at most that.
 */
export function trimmedEvents<E extends Timed>(events: readonly E[], nowMs: number): readonly E[] {
  const { past, ahead } = partsAt(events, nowMs)
  const leastAhead = newest(ahead, HALF)
  const keptPast = newest(past, rest(leastAhead))
  const keptAhead = newest(ahead, rest(keptPast))
  return keptPast.length + keptAhead.length === events.length ? events : [...keptPast, ...keptAhead]
}

/** Returns whether a full log would drop an event at once. */
export function isTooOld<E extends Timed>(events: readonly E[], { atMs }: Timed, nowMs: number): boolean {
  if (events.length < MAX_EVENTS) return false
  const { past, ahead } = partsAt(events, nowMs)
  const part = isAhead(atMs, nowMs) ? ahead : past
  return part.length >= HALF.events && atMs < (part[0]?.atMs ?? 0)
}

function isAhead(atMs: number, nowMs: number): boolean {
  return atMs > nowMs + MAX_AHEAD_MS
}

function partsAt<E extends Timed>(events: readonly E[], nowMs: number) {
  const at = events.findLastIndex(({ atMs }) => !isAhead(atMs, nowMs)) + 1
  return { past: events.slice(0, at), ahead: events.slice(at) }
}

/** Returns the last events that have room. */
function newest<E extends object>(events: readonly E[], room: Room): readonly E[] {
  let { bytes } = room
  const first = events.findLastIndex((event) => {
    bytes -= bytesOf(event)
    return bytes < 0
  })
  return events.slice(Math.max(first + 1, events.length - room.events))
}

/** Returns the room that some events leave. */
function rest(events: readonly object[]): Room {
  const bytes = events.reduce((sum, event) => sum + bytesOf(event), 0)
  return { events: ALL.events - events.length, bytes: ALL.bytes - bytes }
}

/** A log is trimmed each time that it is shown while some of it waits for a store. */
const bytesOf = weakMemo((event: object) => Buffer.byteLength(JSON.stringify(event)) + 1)
