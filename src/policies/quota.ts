import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { DAY_MS } from '../util/time-zone.js'
import { calendar, type PeriodStart } from './calendar.js'
import { countedWindow, type WindowKind, windowsByClock } from './counted-window.js'
import type { Policy } from './policy.js'
import { type QuotaOptions, readQuotaOptions, type SubjectQuotaOptions } from './quota-options.js'
import { shiftPolicy } from './shift-policy.js'

type Settings = Omit<ReturnType<typeof readQuotaOptions>, 'start'>

/** The nominal lengths of periods. Their real lengths come from the calendar. */
const NOMINAL_MS = { day: DAY_MS, week: 7 * DAY_MS, month: 30 * DAY_MS, year: 365 * DAY_MS }

/**
 * Creates a policy that allows `limit` units per calendar day, week, month or year. All units come back when
 * the next period begins: at midnight in `timeZone`, on the day that `startsOn` names. The length of a
 * period follows the calendar of that time zone, including daylight saving time and leap days.
 *
 * - In a month that is too short for `startsOn`, the period begins on the last day of the month.
 * - If the clock is set forward over midnight, the period begins at that moment. If midnight comes twice,
 *   the period begins at the first.
 *
 * **Bound.** At most `limit` in each period, and `2 × limit` around the end of a period.
 *
 * **Clock.** The time comes from the store, and the time zone data from the process. A step back grants
 * nothing. A state keeps counting in its own period, which is at most the one after the current one. No
 * client waits for longer than two periods.
 *
 * **Refunds** reach only the period in which the units were taken.
 *
 * **Change of numbers.** The count stays in use, if the last charge was in the current period of the new
 * calendar. A debt ends with its period.
 *
 * **State.** The count, and when the last charge was made.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { byUser, quota, rateLimit } from 'headgate'
 *
 * const policy = quota({ limit: 50_000, per: 'month', timeZone: 'America/New_York' })
 * const api = rateLimit({ policy, key: byUser() })
 * ```
 */
export function quota(options: QuotaOptions): Policy
/**
 * Creates a function that returns the `quota` of a subject, for periods that begin on a different day for
 * each subject. Pass it as the option `policy`.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { byUser, type ExpressRequest, quota, rateLimit } from 'headgate'
 *
 * const billingDays = new Map([['ada', 15]])
 * const startsOn = ({ user }: ExpressRequest) => billingDays.get(user?.id ?? '') ?? 1
 * const policy = quota({ limit: 50_000, per: 'month', startsOn })
 * const api = rateLimit({ policy, key: byUser() })
 * ```
 */
export function quota<Subject>(
  options: SubjectQuotaOptions<Subject>,
): (subject: Subject) => MaybePromise<Policy>
export function quota(options: unknown): Policy | ((subject: unknown) => MaybePromise<Policy>) {
  const { start, ...settings } = readQuotaOptions(options)
  if (typeof start !== 'function') return makeQuota(settings, start)
  const policies = new Map<unknown, Policy>() // at most one for each day of a year
  return function quotaOf(subject) {
    return thenMaybe(start(subject), (subjectStart) => {
      const day = startDay(subjectStart)
      const policy = policies.get(day) ?? makeQuota(settings, subjectStart)
      policies.set(day, policy)
      return policy
    })
  }
}

function startDay(start: PeriodStart): string | number | undefined {
  return 'startsOn' in start ? start.startsOn : undefined
}

function makeQuota(settings: Settings, start: PeriodStart): Policy {
  const { limit, per, name = `${limit}-per-${per}`, debt, onChange } = settings
  const counted = { name, limit, windowMs: NOMINAL_MS[per], debt, onChange }
  return countedWindow(counted, calendarWindows(settings, start))
}

/** Returns windows that are the periods of a calendar. */
function calendarWindows({ timeZone }: Settings, start: PeriodStart): WindowKind {
  const periodAt = calendar(start, timeZone)
  const startOf = (atMs: number) => periodAt(atMs).startsAtMs
  return {
    specOf: (limit) => ({ kind: 'quota', limit, timeZone: timeZone.name, ...start }),
    ...windowsByClock(startOf, (atMs) => periodAt(atMs).endsAtMs),
    calendar: { periodAt, shift: shiftPolicy },
  }
}
