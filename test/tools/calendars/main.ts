/**
 * Compares the periods of every time zone with those of an independent calendar: each kind of period, each day
 * on which a week or a month may begin, and the moments around each border and each change of a clock. Takes
 * ten minutes. An argument is a zone to compare, instead of all.
 */
import { type PeriodStart, WEEKDAYS } from '../../../src/policies/calendar.js'
import { CalendarComparison, oracleZone, YEARS } from '../../support/calendar-oracle.js'

const starts: readonly PeriodStart[] = [
  { per: 'day' },
  ...WEEKDAYS.map((startsOn): PeriodStart => ({ per: 'week', startsOn })),
  ...Array.from({ length: 31 }, (_, i): PeriodStart => ({ per: 'month', startsOn: i + 1 })),
  ...['01-01', '02-28', '02-29', '03-01', '12-31'].map(
    (startsOn): PeriodStart => ({ per: 'year', startsOn }),
  ),
]

const MINUTES_AROUND = [-24 * 60, -60, -30, 0, 30, 60, 24 * 60]

const total = { zones: 0, forward: 0, back: 0, periods: 0, moments: 0, differences: 0 }

for (const zone of process.argv[2] ? [process.argv[2]] : Intl.supportedValuesOf('timeZone')) {
  const reference = oracleZone(zone)
  const changes = reference.clockChanges()
  total.zones++
  for (const { isForward } of changes) total[isForward ? 'forward' : 'back']++
  for (const start of starts) {
    const oracle = reference.calendar(start)
    const comparison = new CalendarComparison(zone, start, oracle)
    comparison.atAllBorders()
    if (start.per === 'day' || start.per === 'year')
      for (const { atMs } of changes)
        for (const minutes of MINUTES_AROUND) comparison.around(atMs + minutes * 60_000)
    total.periods += oracle.count
    total.moments += comparison.moments
    total.differences += comparison.differences.length
    for (const difference of comparison.differences.slice(0, 3)) console.log(difference)
  }
}

const { zones, forward, back, periods, moments, differences } = total
const figures = [
  `${zones} zones from ${YEARS.first} to ${YEARS.last}, IANA database ${process.versions.tz}`,
  `${forward} clocks set forward, ${back} set back`,
  `${periods} periods compared at ${moments} moments`,
  `${differences} differences`,
]
console.log(figures.join('\n'))
