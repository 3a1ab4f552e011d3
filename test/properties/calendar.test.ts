import fc from 'fast-check'
import { type PeriodStart, WEEKDAYS } from '../../src/policies/calendar.js'
import { CalendarComparison, oracleZone, YEARS } from '../support/calendar-oracle.js'

const SEED = 20_260_101
const ZONES = Intl.supportedValuesOf('timeZone')

/** Zones whose clocks skip or repeat midnight, change by half an hour, or change for Ramadan, since 2020. */
const HARD_ZONES = [
  'Africa/Cairo',
  'Africa/Casablanca',
  'America/Asuncion',
  'America/Havana',
  'America/Nuuk',
  'America/Santiago',
  'Antarctica/Troll',
  'Asia/Amman',
  'Asia/Beirut',
  'Asia/Gaza',
  'Asia/Tehran',
  'Atlantic/Azores',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'UTC',
]

const monthAndDay = fc
  .date({ min: new Date('2024-01-01'), max: new Date('2024-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(5, 10))

const anyStart = fc.oneof(
  fc.constant<PeriodStart>({ per: 'day' }),
  fc.record({ per: fc.constant('week' as const), startsOn: fc.constantFrom(...WEEKDAYS) }),
  fc.record({ per: fc.constant('month' as const), startsOn: fc.integer({ min: 1, max: 31 }) }),
  fc.record({ per: fc.constant('year' as const), startsOn: monthAndDay }),
)

const moment = fc.double({ min: Date.UTC(YEARS.first), max: Date.UTC(YEARS.last + 1), noNaN: true })

test('in every zone, years begin and end as in an independent calendar', () => {
  const starts = fc.sample(monthAndDay, { seed: SEED, numRuns: ZONES.length })
  const differences = ZONES.flatMap((zone, i) => {
    const start: PeriodStart = { per: 'year', startsOn: starts[i] ?? '01-01' }
    const comparison = new CalendarComparison(zone, start, oracleZone(zone).calendar(start))
    comparison.atAllBorders()
    expect(comparison.moments).toBeGreaterThan(90)
    return comparison.differences
  })
  expect(differences).toEqual([])
})

test('around every change of a clock, periods are those of an independent calendar', () => {
  const sampled = fc.sample(fc.constantFrom(...ZONES), { seed: SEED, numRuns: 20 })
  const starts = fc.sample(anyStart, { seed: SEED, numRuns: HARD_ZONES.length + sampled.length })
  const differences = [...HARD_ZONES, ...sampled].flatMap((zone, i) => {
    const start = starts[i] ?? { per: 'day' }
    const reference = oracleZone(zone)
    const comparison = new CalendarComparison(zone, start, reference.calendar(start))
    for (const { atMs } of reference.clockChanges())
      for (const minutes of [-60, 0, 60]) comparison.around(atMs + minutes * 60_000)
    return comparison.differences
  })
  expect(differences).toEqual([])
})

test('a calendar that is asked about moments in any order answers as if each were the first', () => {
  const zones = HARD_ZONES.slice(0, 4).map((zone) => ({ zone, reference: oracleZone(zone) }))
  const jumps = fc.array(moment, { minLength: 1, maxLength: 30 })
  const months = fc.integer({ min: 28, max: 31 })
  fc.assert(
    fc.property(fc.constantFrom(...zones), months, jumps, ({ zone, reference }, startsOn, trace) => {
      const start: PeriodStart = { per: 'month', startsOn }
      const oracle = reference.calendar(start)
      const comparison = new CalendarComparison(zone, start, oracle)
      for (const atMs of trace) {
        comparison.at(atMs)
        comparison.around(oracle.periodAt(atMs)?.endsAtMs ?? atMs)
      }
      expect(comparison.differences).toEqual([])
    }),
    { seed: SEED },
  )
})
