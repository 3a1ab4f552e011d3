import { DAY_MS, type TimeZone } from '../util/time-zone.js'

/** A span of time, in milliseconds since the Unix epoch. It includes its start and excludes its end. */
export interface Period {
  readonly startsAtMs: number
  readonly endsAtMs: number
}

export function lengthOf({ startsAtMs, endsAtMs }: Period): number {
  return endsAtMs - startsAtMs
}

/** The days of a week, as `startsOn` names them. */
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
  /** The day from 1 to 31. A month that is too short begins its period on its last day. */
  | { readonly per: 'month'; readonly startsOn: number }
  /** `MM-DD`. With `02-29`, the period begins on 28 February in other years. */
  | { readonly per: 'year'; readonly startsOn: string }

/** Returns the period that contains a moment. */
export type PeriodAt = (atMs: number) => Period

/**
 * Creates the calendar of a time zone. Each moment lies in exactly one period, which begins at the first
 * moment of its first day:
 *
 * - Usually, that is midnight.
 * - If the clock is set back over midnight, it is the first of the two midnights. The time that the clock
 *   then shows twice is part of the new period, even though the second time it shows the evening before
 *   again.
 * - If the clock is set forward over midnight or over the whole day, it is the moment of that change.
 *
 * So periods have the length that local clocks show. A day has 23 or 25 hours when daylight saving time
 * begins or ends.
 *
 * The calendar remembers the last two periods. To look up a moment in one of them takes a few comparisons,
 * and any other moment about 20 µs.
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

/** Numbers periods in chronological order. Days are counted from 1970-01-01. */
interface Numbering {
  /** Returns the number of the period to which a day belongs. */
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

/** Numbers months or years: exactly one period begins in each. */
function numbering(indexAt: (date: Date) => number, firstDayOf: (index: number) => number): Numbering {
  return {
    firstDayOf,
    indexOf(day) {
      const index = indexAt(new Date(day * DAY_MS))
      return day < firstDayOf(index) ? index - 1 : index
    },
  }
}

/** Returns the number of a day; in a month that is too short, of its last day. January is month 0. */
function dayNumber(year: number, month: number, dayOfMonth: number): number {
  const lastDay = new Date(atMidnight(year, month + 1, 0)).getUTCDate()
  return atMidnight(year, month, Math.min(dayOfMonth, lastDay)) / DAY_MS
}

/** Replaces `Date.UTC`, which reads the years 0 to 99 as 1900 to 1999. */
function atMidnight(year: number, month: number, dayOfMonth: number): number {
  return new Date(0).setUTCFullYear(year, month, dayOfMonth)
}
