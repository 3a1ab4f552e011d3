import { calendar, type PeriodStart } from '../../../src/policies/calendar.js'
import { readTimeZone } from '../../../src/util/time-zone.js'

const zoneOf = (name: string) => readTimeZone('someone', 'timeZone', name)

/** Returns the period of a moment, in the shortest spelling. */
function periodOf(start: PeriodStart, zone: string, at: string): string {
  const { startsAtMs, endsAtMs } = calendar(start, zoneOf(zone))(Date.parse(at))
  return [startsAtMs, endsAtMs].map((ms) => new Date(ms).toISOString().replace(':00.000Z', '')).join(' ')
}

test.each<[PeriodStart, at: string, period: string]>([
  [{ per: 'day' }, '2026-02-28T23:59:59.999Z', '2026-02-28T00:00 2026-03-01T00:00'],
  [{ per: 'week', startsOn: 'monday' }, '2026-11-26T12:00Z', '2026-11-23T00:00 2026-11-30T00:00'],
  [{ per: 'week', startsOn: 'thursday' }, '2026-11-26T00:00Z', '2026-11-26T00:00 2026-12-03T00:00'],
  [{ per: 'week', startsOn: 'friday' }, '2026-11-26T12:00Z', '2026-11-20T00:00 2026-11-27T00:00'],
  [{ per: 'month', startsOn: 1 }, '2028-02-29T12:00Z', '2028-02-01T00:00 2028-03-01T00:00'],
  [{ per: 'month', startsOn: 15 }, '2026-01-14T12:00Z', '2025-12-15T00:00 2026-01-15T00:00'],
  [{ per: 'year', startsOn: '01-01' }, '2026-12-31T12:00Z', '2026-01-01T00:00 2027-01-01T00:00'],
  [{ per: 'year', startsOn: '04-01' }, '2026-03-31T12:00Z', '2025-04-01T00:00 2026-04-01T00:00'],
])('%j at %s', (start, at, period) => {
  expect(periodOf(start, 'UTC', at)).toBe(period)
})

test('a month without the day begins on its last day, and the next month on the day itself', () => {
  const start: PeriodStart = { per: 'month', startsOn: 31 }
  expect(periodOf(start, 'UTC', '2026-02-27T12:00Z')).toBe('2026-01-31T00:00 2026-02-28T00:00')
  expect(periodOf(start, 'UTC', '2026-02-28T00:00Z')).toBe('2026-02-28T00:00 2026-03-31T00:00')
  expect(periodOf(start, 'UTC', '2026-04-30T00:00Z')).toBe('2026-04-30T00:00 2026-05-31T00:00')
  expect(periodOf(start, 'UTC', '2028-02-29T00:00Z')).toBe('2028-02-29T00:00 2028-03-31T00:00')
})

test('a year that begins on 29 February begins on the 28th in years without it', () => {
  const start: PeriodStart = { per: 'year', startsOn: '02-29' }
  expect(periodOf(start, 'UTC', '2027-02-28T00:00Z')).toBe('2027-02-28T00:00 2028-02-29T00:00')
  expect(periodOf(start, 'UTC', '2028-02-28T12:00Z')).toBe('2027-02-28T00:00 2028-02-29T00:00')
  expect(periodOf(start, 'UTC', '2028-02-29T00:00Z')).toBe('2028-02-29T00:00 2029-02-28T00:00')
})

test('days have 23 or 25 hours where daylight saving time begins or ends', () => {
  const day: PeriodStart = { per: 'day' }
  expect(periodOf(day, 'Europe/Berlin', '2026-03-29T12:00Z')).toBe('2026-03-28T23:00 2026-03-29T22:00')
  expect(periodOf(day, 'Europe/Berlin', '2026-10-25T12:00Z')).toBe('2026-10-24T22:00 2026-10-25T23:00')
  expect(periodOf(day, 'Australia/Lord_Howe', '2026-04-05T12:00Z')).toBe('2026-04-04T13:00 2026-04-05T13:30')
})

test('an evening that the clock shows again after midnight is part of the new day', () => {
  const [day, zone]: [PeriodStart, string] = [{ per: 'day' }, 'America/St_Johns'] // 00:01 to 23:01
  expect(periodOf(day, zone, '2010-11-07T02:29Z')).toBe('2010-11-06T02:30 2010-11-07T02:30')
  for (const at of ['2010-11-07T02:30Z', '2010-11-07T02:31Z', '2010-11-07T03:29Z', '2010-11-08T03:29Z'])
    expect(periodOf(day, zone, at)).toBe('2010-11-07T02:30 2010-11-08T03:30')
})

test('a period that would begin on a skipped day begins on the next', () => {
  const [before, after] = ['2011-12-30T09:59:59Z', '2011-12-30T10:00Z']
  const apia = (start: PeriodStart, at: string) => periodOf(start, 'Pacific/Apia', at)
  expect(apia({ per: 'day' }, before)).toBe('2011-12-29T10:00 2011-12-30T10:00')
  expect(apia({ per: 'day' }, after)).toBe('2011-12-30T10:00 2011-12-31T10:00')
  expect(apia({ per: 'week', startsOn: 'friday' }, before)).toBe('2011-12-23T10:00 2011-12-30T10:00')
  expect(apia({ per: 'month', startsOn: 30 }, after)).toBe('2011-12-30T10:00 2012-01-29T10:00')
})

test('moments of the last two periods need no zone, however they alternate', () => {
  const utc = zoneOf('UTC')
  const [dayAt, startOfDayMs] = [jest.fn(utc.dayAt), jest.fn(utc.startOfDayMs)]
  const periodAt = calendar({ per: 'month', startsOn: 1 }, { ...utc, dayAt, startOfDayMs })
  const [may, june] = [Date.parse('2026-05-31T23:59Z'), Date.parse('2026-06-01')]
  const periods = [periodAt(may), periodAt(june)]
  for (const mock of [dayAt, startOfDayMs]) mock.mockClear()
  for (let i = 0; i < 5; i++) expect([periodAt(may + i), periodAt(june + i)]).toEqual(periods)
  for (const mock of [dayAt, startOfDayMs]) expect(mock).not.toHaveBeenCalled()
})

test('moments may come in any order', () => {
  const periodAt = calendar({ per: 'year', startsOn: '01-01' }, zoneOf('UTC'))
  for (const year of [2030, 2020, 2031, 2020, 1970, 2030, 2040])
    expect(periodAt(Date.UTC(year, 6))).toEqual({ startsAtMs: Date.UTC(year), endsAtMs: Date.UTC(year + 1) })
})
