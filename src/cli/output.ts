import { escapeUnprintable } from '../util/printable.js'

const MAX_SHOWN = 80

/**
 * Returns a text of an input as a terminal may show it: on one line, shortened, without control characters.
 */
export function printable(text: string): string {
  const characters = Array.from(text.slice(0, 2 * MAX_SHOWN))
  const isLong = characters.length > MAX_SHOWN || text.length > 2 * MAX_SHOWN
  return escapeUnprintable(isLong ? `${characters.slice(0, MAX_SHOWN - 1).join('')}…` : text)
}

/** Returns a value as JSON, with every character escaped that could steer a terminal. */
export function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2).split('\n').map(escapeUnprintable).join('\n')}\n`
}

/** Returns a line of a report for people. */
export function row(name: string, value: string): string {
  return `${name.padEnd(14)}${value}`
}

export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** Returns a share of 1 as a percentage. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(2)}%`
}

/** Returns a time in ISO 8601; `null` for one that is never. */
export function isoTime(atMs: number): string | null {
  return Number.isFinite(atMs) ? new Date(atMs).toISOString() : null
}

/** Returns a time to the second, in UTC. */
export function timeText(iso: string | null): string {
  return iso === null ? '-' : `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z`
}

/** Returns a length of time in seconds if it is not too long for that. */
export function spanText(ms: number): string {
  if (ms < 120_000) return `${Math.ceil(ms) / 1000} s`
  if (ms < 2 * 86_400_000) return `${count(Math.round(ms / 60_000))} min`
  return `${count(Math.round(ms / 86_400_000))} days`
}
