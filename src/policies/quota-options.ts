import { optional, readRows, unchecked, withDefault } from '../options/option-table.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { readTimeZone } from '../util/time-zone.js'
import { choice, findNearest, keyName, whole, wholeNumber, wrongOption } from '../util/validate.js'
import { isFunction } from '../util/values.js'
import { type PeriodStart, WEEKDAYS, type Weekday } from './calendar.js'
import { type ChangeOptions, DEBT_ROW, ON_CHANGE_ROW } from './change-options.js'

/** The options of `quota`, except those of its periods. */
interface QuotaNumbers extends ChangeOptions {
  /** Units that may be taken per period. A whole number of at least 1. */
  limit: number
  /**
   * The time zone of the periods. Either a name in the IANA database, such as `'Europe/Berlin'`, or an
   * offset from UTC, such as `'+02:00'`. Default `'UTC'`.
   */
  timeZone?: string
  /**
   * The name of the limit in headers and keys. Default: made from the numbers, such as `10000-per-month`.
   */
  name?: string
}

/** Options of `quota`. */
export type QuotaOptions = QuotaNumbers &
  (
    | {
        /** The period: `'day'`, `'week'`, `'month'` or `'year'`. */
        per: 'day'
        /** The day on which periods begin: a weekday, a day of the month, or `'MM-DD'`. Days have none. */
        startsOn?: undefined
      }
    | {
        per: 'week'
        /** The weekday on which weeks begin. Default `'monday'`. */
        startsOn?: Weekday
      }
    | {
        per: 'month'
        /** The day on which months begin, from 1 to 31. A shorter month begins on its last day. Default 1. */
        startsOn?: number
      }
    | {
        per: 'year'
        /**
         * The day on which years begin, as `'MM-DD'`. For `'02-29'`, 28 February in other years. Default
         * `'01-01'`.
         */
        startsOn?: string
      }
  )

/** Options of a `quota` whose periods begin on a different day for each subject, such as a billing day. */
export type SubjectQuotaOptions<Subject> = QuotaNumbers &
  (
    | {
        /** The period: `'week'`, `'month'` or `'year'`. */
        per: 'week'
        /** Returns the day on which the periods of a subject begin. */
        startsOn: (subject: Subject) => MaybePromise<Weekday>
      }
    | { per: 'month'; startsOn: (subject: Subject) => MaybePromise<number> }
    | { per: 'year'; startsOn: (subject: Subject) => MaybePromise<string> }
  )

/** Returns the day on which the periods of a subject begin. */
export type ReadStart = (subject: unknown) => MaybePromise<PeriodStart>

const PERIODS = ['day', 'week', 'month', 'year'] as const
type Per = (typeof PERIODS)[number]

const OPTIONS = {
  rows: {
    limit: wholeNumber,
    per: readPer,
    timeZone: withDefault('UTC', readTimeZone),
    startsOn: unchecked,
    name: optional(keyName),
    debt: DEBT_ROW,
    onChange: ON_CHANGE_ROW,
  },
  rules: { start: { from: ['per', 'startsOn'], read: readStartOption } },
  fixes: {
    max: 'limit',
    points: 'limit',
    period: 'per',
    every: 'per',
    interval: 'per',
    window: "Write per: 'day', 'week', 'month' or 'year', or use fixedWindow for another length.",
    windowMs: 'window',
    duration: 'window',
    tz: 'timeZone',
    zone: 'timeZone',
    startsAt: 'startsOn',
    billingDay: 'startsOn',
  },
} as const

/** Reads the options of `quota`. Throws a `TypeError` with a fix. */
export function readQuotaOptions(options: unknown) {
  return readRows('quota', options, OPTIONS)
}

function readPer(owner: string, option: string, value: unknown): Per {
  const per = PERIODS.find((each) => each === value)
  if (per !== undefined) return per
  const near = typeof value === 'string' ? findNearest(value, PERIODS) : 'month'
  const fix = near ? `Did you mean ${option}: '${near}'?` : 'Use fixedWindow for a window of another length.'
  throw wrongOption(owner, option, "'day', 'week', 'month' or 'year'", value, fix)
}

/** Returns the day on which periods begin, or a function that returns it for a subject. */
function readStartOption(
  owner: string,
  { per, startsOn }: { readonly per: Per; readonly startsOn: unknown },
): PeriodStart | ReadStart {
  if (startsOn === undefined) return DEFAULT_STARTS[per]
  if (per === 'day') {
    const fix = 'Days begin at midnight in timeZone.'
    throw wrongOption(owner, 'startsOn', "left out with per: 'day'", startsOn, fix)
  }
  if (!isFunction(startsOn)) return readStart(owner, per, startsOn)
  return (subject) => thenMaybe(startsOn(subject), (value) => readStart(owner, per, value))
}

const DEFAULT_STARTS: Readonly<Record<Per, PeriodStart>> = {
  day: { per: 'day' },
  week: { per: 'week', startsOn: 'monday' },
  month: { per: 'month', startsOn: 1 },
  year: { per: 'year', startsOn: '01-01' },
}

const readDayOfMonth = whole(1, 31, 1)

function readStart(owner: string, per: Exclude<Per, 'day'>, value: unknown): PeriodStart {
  const option = 'startsOn'
  switch (per) {
    case 'week':
      return { per, startsOn: choice(...WEEKDAYS)(owner, option, value) }
    case 'month':
      return { per, startsOn: readDayOfMonth(owner, option, value) }
    case 'year':
      return { per, startsOn: readDayOfYear(owner, option, value) }
  }
}

/** Returns a day of the year, as `MM-DD`. 29 February is valid. */
function readDayOfYear(owner: string, option: string, value: unknown): string {
  if (typeof value === 'string' && isLeapYearDay(value)) return value
  const must = "a day of the year as 'MM-DD'"
  throw wrongOption(owner, option, must, value, `Write ${option}: '04-01' for 1 April.`)
}

function isLeapYearDay(text: string): boolean {
  const atMs = /^\d\d-\d\d$/.test(text) ? Date.parse(`2024-${text}`) : Number.NaN
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().slice(5, 10) === text // not 30 February
}
