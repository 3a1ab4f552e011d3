import type { LoggedEvent } from '../figures/logged-event.js'

/** The same thing, told by several processes within this time, is one event. */
const SAME_MS = 60_000
/** A state that was told longer ago is told again: a process may have ended without telling what came after. */
const SAME_STATE_MS = 600_000
/** By how much processes may differ in when they notice something, and in their clocks. */
const SPREAD_MS = 15_000

/** What tells whether two processes have logged the same. */
type Told = Pick<LoggedEvent, 'id' | 'atMs' | 'kind'> & { readonly about?: string; readonly state?: string }

/** Returns the id of an event. It begins with its source, such as a dashboard of a process. */
export function eventId(source: string, count: number): string {
  return `${source}-${count}`
}

/**
 * Returns the event of a log that says the same about the same thing; `undefined` if there is none. Processes write
 * late, such as once a store is back, so an event is compared with those around its time, and not with the last ones.
 */
export function repeatedEvent<E extends Told>(log: readonly E[], event: E): E | undefined {
  const { atMs, about, state } = event
  if (about === undefined) return undefined
  const others = log.filter((other) => other.kind === event.kind && other.about === about)
  const isWithin = (other: E, ms: number) => Math.abs(atMs - other.atMs) < ms
  if (state === undefined) return others.find((other) => isWithin(other, SAME_MS))
  const at = others.findLastIndex((other) => other.atMs <= atMs)
  const [before, after] = [others[at], others[at + 1]]
  const isOver = after !== undefined && after.state !== state
  if (before?.state === state && (isOver || isWithin(before, SAME_STATE_MS))) return before
  if (after?.state === state && isWithin(after, SAME_STATE_MS)) return after
  const told = others.slice(0, at + 1).filter((other) => other.state === state && isWithin(other, SPREAD_MS))
  return told.find((other) => sourceOf(other) !== sourceOf(event))
}

/** What one process tells twice has happened twice, however soon. */
function sourceOf({ id }: Told): string {
  return id.slice(0, id.lastIndexOf('-'))
}
