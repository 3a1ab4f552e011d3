import { RecentMap } from './recent-map.js'
import { findNearest, wrongOption } from './validate.js'

/** The length of a day in UTC. */
export const DAY_MS = 86_400_000

/** The local calendar of a time zone. Days are counted from 1970-01-01, which is day 0. */
export interface TimeZone {
  /** The name as it was given: from the IANA database, or an offset. */
  readonly name: string
  /** Returns how far the zone is ahead of UTC at a moment, in milliseconds. */
  offsetAt(atMs: number): number
  /** Returns the day that the calendar shows at a moment. */
  dayAt(atMs: number): number
  /**
   * Returns the first moment at which the calendar shows a day or a later one. That is midnight, the first
   * of two midnights if the clock is set back over it, or the moment at which the clock skips midnight.
   */
  startOfDayMs(day: number): number
}

const MIN_ZONES = 64
/** Formatters by zone. To create one takes 0.1 ms, and to create the first one in a process 10 ms. */
const zones = /* @__PURE__ */ new RecentMap<TimeZone>(MIN_ZONES)

/** Returns the time zone with a name. Throws a `TypeError` with a fix. */
export function readTimeZone(owner: string, option: string, value: unknown): TimeZone {
  const zone = typeof value === 'string' ? (zones.get(value) ?? timeZoneOf(value)) : undefined
  if (zone === undefined) {
    const near = typeof value === 'string' ? suggestZone(value) : undefined
    const must = "a time zone such as 'Europe/Berlin', or an offset such as '+02:00'"
    throw wrongOption(owner, option, must, value, near && `Did you mean ${option}: '${near}'?`)
  }
  zones.set(zone.name, zone)
  return zone
}

function timeZoneOf(name: string): TimeZone | undefined {
  const offsetMs = fixedOffsetMs(name)
  if (offsetMs !== undefined) return fixedZone(name, offsetMs)
  try {
    return changingZone(name, offsetReader(name))
  } catch (error) {
    if (error instanceof RangeError) return undefined // the runtime does not know the name
    throw error
  }
}

/** Returns how far a fixed offset is ahead of UTC. Node.js 20 does not accept offsets as time zones. */
function fixedOffsetMs(name: string): number | undefined {
  if (/^(?:etc\/)?(?:utc|gmt)$/i.test(name)) return 0
  const [, sign, hours, minutes] = /^([+-])([01]\d|2[0-3]):([0-5]\d)$/.exec(name) ?? []
  if (sign === undefined) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}

function fixedZone(name: string, offsetMs: number): TimeZone {
  return {
    name,
    offsetAt: () => offsetMs,
    dayAt: (atMs) => Math.floor((Math.floor(atMs) + offsetMs) / DAY_MS),
    startOfDayMs: (day) => day * DAY_MS - offsetMs,
  }
}

/**
 * Creates a zone whose offset changes, but never twice within two days: in the IANA database of 2025, the
 * closest two changes of a zone are four days apart (Africa/Freetown in 1939).
 */
function changingZone(name: string, offsetAt: (atMs: number) => number): TimeZone {
  function startOfDayMs(day: number): number {
    const utcMidnightMs = day * DAY_MS
    const offsetBefore = offsetAt(utcMidnightMs - DAY_MS)
    const offsetAfter = offsetAt(utcMidnightMs + DAY_MS)
    const midnightBefore = utcMidnightMs - offsetBefore
    if (offsetAt(midnightBefore) === offsetBefore) return midnightBefore // no change until then
    const midnightAfter = utcMidnightMs - offsetAfter
    if (offsetAt(midnightAfter) === offsetAfter) return midnightAfter // no change after that
    return changeBetween(midnightAfter, midnightBefore) // the change skips midnight
  }

  /** Returns the first millisecond with another offset than `fromMs`, up to `toMs`, which has another. */
  function changeBetween(fromMs: number, toMs: number): number {
    const offsetBefore = offsetAt(fromMs)
    let [before, after] = [fromMs, toMs]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (offsetAt(middle) === offsetBefore) before = middle
      else after = middle
    }
    return after
  }

  const dayAt = (atMs: number) => Math.floor((Math.floor(atMs) + offsetAt(atMs)) / DAY_MS)
  return { name, offsetAt, dayAt, startOfDayMs }
}

const FIELDS = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const

/** Before 1900, zones keep the offset that they had then. */
const FIRST_MS = /* @__PURE__ */ Date.UTC(1900)

/**
 * Creates a function that returns how far a zone is ahead of UTC. Throws a `RangeError` for an unknown zone.
 */
function offsetReader(timeZone: string): (atMs: number) => number {
  const fields = Object.fromEntries(FIELDS.map((field) => [field, 'numeric']))
  const clock = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...fields })
  return function offsetAt(atMs) {
    const secondMs = Math.floor(Math.max(atMs, FIRST_MS) / 1000) * 1000
    const shown: Record<string, number> = {}
    for (const { type, value } of clock.formatToParts(secondMs)) shown[type] = Number(value)
    const { year = NaN, month = NaN, day, hour, minute, second } = shown
    return Date.UTC(year, month - 1, day, hour, minute, second) - secondMs
  }
}

/** Returns the zone that a wrong text may mean: Europe/Berlin for `Berlin`, and +02:00 for `UTC+2`. */
function suggestZone(text: string): string | undefined {
  const [, sign, hours = '', minutes = '00'] = /^(?:utc|gmt)? *([+-])(\d\d?):?(\d\d)?$/i.exec(text) ?? []
  const offset = `${sign}${hours.padStart(2, '0')}:${minutes}`
  if (fixedOffsetMs(offset) !== undefined) return offset
  const names = Intl.supportedValuesOf('timeZone')
  const city = `/${text.trim().replaceAll(' ', '_').toLowerCase()}`
  return names.find((name) => name.toLowerCase().endsWith(city)) ?? findNearest(text, names)
}
