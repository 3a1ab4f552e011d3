import { Temporal } from '@js-temporal/polyfill'
import {
  calendar,
  type Period,
  type PeriodAt,
  type PeriodStart,
  WEEKDAYS,
} from '../../src/policies/calendar.js'
import { readTimeZone } from '../../src/util/time-zone.js'

/** The years that are compared. Periods that reach beyond them are left out. */
export const YEARS = { first: 2020, last: 2040 } as const

/** A calendar of the reference implementation of Temporal, which finds when days begin by its own rules. */
export interface OracleCalendar {
  /** How many periods begin in `YEARS`. One that begins on a day that the zone skips may be empty. */
  readonly count: number
  startOf(index: number): number
  /** Returns the period that contains a moment; `undefined` if it reaches beyond `YEARS`. */
  periodAt(atMs: number): Period | undefined
}

/** A moment at which the clocks of a zone change. */
export interface ClockChange {
  readonly atMs: number
  readonly isForward: boolean
}

/** A time zone of Temporal, which remembers when days begin: periods of all kinds begin with the same days. */
export function oracleZone(zone: string) {
  const midnights = new Map<string, number>()

  function startOfDay(date: Temporal.PlainDate): number {
    const name = date.toString()
    const atMs = midnights.get(name) ?? date.toZonedDateTime(zone).epochMilliseconds
    midnights.set(name, atMs)
    return atMs
  }

  return {
    calendar(start: PeriodStart): OracleCalendar {
      const days = firstDays(start)
      const starts: number[] = []
      const startOf = (index: number) => (starts[index] ??= startOfDay(days[index] as Temporal.PlainDate))
      return {
        count: days.length,
        startOf,
        periodAt(atMs) {
          let [from, to] = [0, days.length] // the first start after the moment is in between
          while (from < to) {
            const middle = (from + to) >> 1
            if (startOf(middle) <= atMs) from = middle + 1
            else to = middle
          }
          if (from === 0 || from === days.length) return undefined
          return { startsAtMs: startOf(from - 1), endsAtMs: startOf(from) }
        },
      }
    },

    /** Returns the moments at which the clock is set forward or back. */
    clockChanges(): ClockChange[] {
      const changes: ClockChange[] = []
      let at: Temporal.ZonedDateTime | null = Temporal.ZonedDateTime.from({
        timeZone: zone,
        year: YEARS.first,
        month: 1,
        day: 1,
      })
      for (;;) {
        at = at.getTimeZoneTransition('next')
        if (at === null || at.year > YEARS.last) return changes
        const isForward = at.offsetNanoseconds > at.subtract({ nanoseconds: 1 }).offsetNanoseconds
        changes.push({ atMs: at.epochMilliseconds, isForward })
      }
    },
  }
}

const firstDaysOf = new Map<string, readonly Temporal.PlainDate[]>()

/** Returns the first days of all periods in `YEARS`, the same in all zones. */
function firstDays(start: PeriodStart): readonly Temporal.PlainDate[] {
  const name = Object.values(start).join()
  const days = firstDaysOf.get(name) ?? listFirstDays(start)
  firstDaysOf.set(name, days)
  return days
}

function listFirstDays(start: PeriodStart): readonly Temporal.PlainDate[] {
  const days: Temporal.PlainDate[] = []
  if (start.per === 'day' || start.per === 'week') {
    let date = Temporal.PlainDate.from({ year: YEARS.first, month: 1, day: 1 })
    while (start.per === 'week' && WEEKDAYS[date.dayOfWeek - 1] !== start.startsOn)
      date = date.add({ days: 1 })
    const step = start.per === 'day' ? { days: 1 } : { weeks: 1 }
    for (; date.year <= YEARS.last; date = date.add(step)) days.push(date)
    return days
  }
  for (let year: number = YEARS.first; year <= YEARS.last; year++) {
    if (start.per === 'year') days.push(Temporal.PlainMonthDay.from(start.startsOn).toPlainDate({ year }))
    else
      for (let month = 1; month <= 12; month++)
        days.push(Temporal.PlainDate.from({ year, month, day: start.startsOn }, { overflow: 'constrain' }))
  }
  return days
}

/** Compares calendars with the oracle, and counts what it compared. */
export class CalendarComparison {
  moments = 0
  readonly differences: string[] = []
  readonly #zone: string
  readonly #start: PeriodStart
  readonly #periodAt: PeriodAt
  readonly #oracle: OracleCalendar

  constructor(zone: string, start: PeriodStart, oracle: OracleCalendar) {
    this.#zone = zone
    this.#start = start
    this.#oracle = oracle
    this.#periodAt = calendar(start, readTimeZone('test', 'zone', zone))
  }

  /** Compares the period that contains a moment. */
  at(atMs: number): void {
    const expected = this.#oracle.periodAt(atMs)
    if (expected === undefined) return
    const found = this.#periodAt(atMs)
    this.moments++
    if (found.startsAtMs === expected.startsAtMs && found.endsAtMs === expected.endsAtMs) return
    const what = `${this.#zone} ${JSON.stringify(this.#start)} at ${new Date(atMs).toISOString()}`
    this.differences.push(`${what}: ${spell(found)}, expected ${spell(expected)}`)
  }

  /** Compares both ends of every period. */
  atAllBorders(): void {
    for (let index = 0; index < this.#oracle.count; index++) this.around(this.#oracle.startOf(index))
  }

  /** Compares the moments just before, at, and just after a moment. */
  around(atMs: number): void {
    for (const awayMs of [-1, -1 / 4096, 0, 1 / 4096, 1]) this.at(atMs + awayMs)
  }
}

function spell({ startsAtMs, endsAtMs }: Period): string {
  return `${new Date(startsAtMs).toISOString()} to ${new Date(endsAtMs).toISOString()}`
}
