import { DAY_MS, type TimeZone } from '../util/time-zone.js'

/** A span of time: from its start up to its end, without the end. In milliseconds since the Unix epoch. */
export interface Period {
  readonly startsAtMs: number
  readonly endsAtMs: number
}

export function lengthOf({ startsAtMs, endsAtMs }: Period): number {
  return endsAtMs - startsAtMs
}

export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const

/** A day of the week. */
export type Weekday = (typeof WEEKDAYS)[number]

/** On which days periods begin. */
export type PeriodStart =
  | { readonly per: 'day' }
  | { readonly per: 'week'; readonly startsOn: Weekday }
  /** A day from 1 to 31. Shorter months begin their period on their last day. */
  | { readonly per: 'month'; readonly startsOn: number }
  /** `MM-DD`. For `02-29`, other years begin their period on 28 February. */
  | { readonly per: 'year'; readonly startsOn: string }

/** Returns the period that contains a moment. */
export type PeriodAt = (atMs: number) => Period

/**
 * Creates the calendar of a time zone. Each moment lies in exactly one period, which begins at the first
 * moment of its first day:
 *
 * - At midnight, where days usually begin.
 * - At the first of two midnights, if the clock is set back over midnight. What it shows twice is then part
 *   of the new period, even where it shows the evening before again.
 * - At the moment when the clock is set forward, if it skips midnight or the whole day.
 *
 * So the periods are as long as they are on the wall: a day has 23 to 25 hours where daylight saving time
 * begins or ends.
 *
 * The last two periods are remembered: a moment in one of them costs a few comparisons, any other about 20 µs.
 */
export function calendar(start: PeriodStart, timeZone: TimeZone): PeriodAt {
  const { indexOf, firstDayOf } = numberingOf(start)
  const startOf = (index: number) => timeZone.startOfDayMs(firstDayOf(index))

  function findPeriod(atMs: number): Period {
    const index = indexOf(timeZone.dayAt(atMs))
    const nextStartsAtMs = startOf(index + 1)
    // The calendar may have shown the next period's first day before the clock was set back.
    return atMs < nextStartsAtMs
      ? { startsAtMs: startOf(index), endsAtMs: nextStartsAtMs }
      : { startsAtMs: nextStartsAtMs, endsAtMs: startOf(index + 2) }
  }

  let recent: Period = { startsAtMs: 0, endsAtMs: 0 }
  let other = recent
  return function periodAt(atMs) {
    if (recent.startsAtMs <= atMs && atMs < recent.endsAtMs) return recent
    const found = other.startsAtMs <= atMs && atMs < other.endsAtMs ? other : findPeriod(atMs)
    other = recent
    recent = found
    return found
  }
}

/** Numbers periods in the order of time. Days are counted from 1970-01-01. */
interface Numbering {
  /** Returns the period to which a day belongs. */
  indexOf(day: number): number
  firstDayOf(index: number): number
}

function numberingOf(start: PeriodStart): Numbering {
  switch (start.per) {
    case 'day':
      return { indexOf: (day) => day, firstDayOf: (index) => index }
    case 'week': {
      const firstDay = 4 + WEEKDAYS.indexOf(start.startsOn) // 1970-01-05 was a Monday
      return {
        indexOf: (day) => Math.floor((day - firstDay) / 7),
        firstDayOf: (index) => firstDay + 7 * index,
      }
    }
    case 'month':
      return numbering(
        (date) => 12 * date.getUTCFullYear() + date.getUTCMonth(),
        (index) => dayNumber(Math.floor(index / 12), index % 12, start.startsOn),
      )
    case 'year': {
      const [month = NaN, dayOfMonth = NaN] = start.startsOn.split('-').map(Number)
      return numbering(
        (date) => date.getUTCFullYear(),
        (year) => dayNumber(year, month - 1, dayOfMonth),
      )
    }
  }
}

/** Numbers periods of which exactly one begins in each month, or in each year. */
function numbering(indexAt: (date: Date) => number, firstDayOf: (index: number) => number): Numbering {
  return {
    firstDayOf,
    indexOf(day) {
      const index = indexAt(new Date(day * DAY_MS))
      return day < firstDayOf(index) ? index - 1 : index
    },
  }
}

/** Returns the number of a day, or of the last day of a month that is too short. January is month 0. */
function dayNumber(year: number, month: number, dayOfMonth: number): number {
  const lastDay = new Date(atMidnight(year, month + 1, 0)).getUTCDate()
  return atMidnight(year, month, Math.min(dayOfMonth, lastDay)) / DAY_MS
}

/** `Date.UTC` takes the years 0 to 99 for those from 1900 on. */
function atMidnight(year: number, month: number, dayOfMonth: number): number {
  return new Date(0).setUTCFullYear(year, month, dayOfMonth)
}
